#include "sandbox/plan/rule_map.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/paths.h"
#include "sandbox/resolve/protected_names.h"

namespace holdfast::sandbox {
namespace {

// What programs need to run, on a usual system and on NixOS.
constexpr std::array<std::string_view, 8> kMinimalRoots = {
    "/bin", "/sbin", "/usr", "/etc", "/lib", "/lib64", "/nix/store", "/run/current-system/sw",
};

std::string_view NameOfAccess(Access access) {
  if (access == Access::kDeny) return "deny";
  return access == Access::kWrite ? "write" : "read";
}

std::unexpected<Error> CannotEnforce(const Rule& rule, std::string_view reason) {
  return Fail(ErrorKind::kInvalidRequest, fmt::format("{} {}: {}", NameOfAccess(rule.access), rule.path, reason));
}

bool IsPrivate(std::string_view path) { return IsAtOrBelow(path, "/dev") || IsAtOrBelow(path, "/proc"); }

// The private /proc is there whatever is granted, and /dev as well; single things of /dev can be granted.
bool AddsNothing(const Rule& rule, std::string_view path) {
  return rule.access != Access::kDeny && (path == "/dev" || IsAtOrBelow(path, "/proc"));
}

// Below /proc there are other processes inside than outside.
bool IsAboutProcesses(const PathWalk& walk) {
  if (!IsBelow(walk.path, "/proc")) return false;
  const char first = walk.path[std::string_view("/proc/").size()];
  return walk.end == PathWalk::End::kNowhere || (first >= '0' && first <= '9');
}

// A client adds such rules when its user approves writing everywhere: a protected name in / may be written, as / may.
bool OpensNameInRoot(const Rule& rule, const Resolution& resolution) {
  return rule.access == Access::kWrite && rule.path != "/" && ParentOf(rule.path) == "/" &&
         IsProtectedName(rule.path.substr(1)) && AccessTo(resolution, "/") == Access::kWrite;
}

bool IsNotThere(const PathWalk& walk) { return !walk.exists() && walk.end != PathWalk::End::kUnsearchable; }

}  // namespace

bool ShallowFirst::operator()(std::string_view a, std::string_view b) const {
  const auto depth = [](std::string_view path) { return path == "/" ? 0 : std::ranges::count(path, '/'); };
  const auto depth_a = depth(a), depth_b = depth(b);
  return depth_a != depth_b ? depth_a < depth_b : a < b;
}

Result<RuleMap> RuleMap::Create(const Resolution& resolution) {
  RuleMap map;
  for (const Rule& rule : resolution.rules) {
    // Where that name is a link, / says all about it. What the link leads to is not meant: another rule may deny it.
    if (OpensNameInRoot(rule, resolution)) {
      TRY(const PathWalk walk, map.walker_.Walk(rule.path));
      if (!walk.links.empty()) continue;
    }
    TRY_VOID(map.AddRule(rule));
  }
  for (const std::string& path : resolution.denied_by_pattern) TRY_VOID(map.AddMatch(path));
  if (resolution.minimal && map.GroundOf("/") == Ground::kHidden) {
    for (const std::string_view path : kMinimalRoots) TRY_VOID(map.AddMinimalRoot(path));
  }
  TRY_VOID(map.SortLinks());
  return map;
}

Result<> RuleMap::AddRule(const Rule& rule) {
  TRY(PathWalk walk, walker_.Walk(rule.path));
  if (rule.if_missing == IfMissing::kSkip && IsNotThere(walk)) return {};
  if (AddsNothing(rule, walk.path)) return {};
  if (IsAboutProcesses(walk)) return CannotEnforce(rule, "the sandbox has processes of its own");
  for (const CrossedLink& link : walk.links) links_.push_back({.link = link, .rule = rule});
  Place(rule, std::move(walk));
  return {};
}

// A link among the matches, which the command can make, must not take away /dev/null from the commands after it.
Result<> RuleMap::AddMatch(const std::string& path) {
  const Rule rule{.path = path, .access = Access::kDeny, .if_missing = IfMissing::kSkip};
  TRY(PathWalk walk, walker_.Walk(path));
  if (IsNotThere(walk)) return {};
  if (IsPrivate(walk.path) && RuleFor(walk.path) == rules_.end()) return {};
  if (walk.path == "/") return CannotEnforce(rule, "it is a link to /");
  Place(rule, std::move(walk));
  return {};
}

Result<> RuleMap::AddMinimalRoot(std::string_view path) {
  const Rule rule{.path = std::string(path), .access = Access::kRead, .if_missing = IfMissing::kSkip};
  TRY(PathWalk walk, walker_.Walk(path));
  if (!walk.exists()) return {};
  const auto given = RuleFor(walk.path);
  if (given != rules_.end() && given->first != "/" && given->second.rule.access == Access::kDeny) return {};
  for (const CrossedLink& link : walk.links) links_.push_back({.link = link, .rule = rule});
  Place(rule, std::move(walk));
  return {};
}

void RuleMap::Place(const Rule& rule, PathWalk walk) {
  const std::string path = walk.path;
  const auto [place, is_first] = rules_.try_emplace(path, PlacedRule{.rule = rule, .walk = std::move(walk)});
  if (!is_first && Outranks(rule.access, place->second.rule.access)) place->second.rule = rule;
}

Result<> RuleMap::SortLinks() {
  for (LinkOfRule& crossed : links_) {
    const Ground ground = GroundAround(crossed.link.path);
    if (ground == Ground::kWritable) {
      return CannotEnforce(crossed.rule,
                           fmt::format("crosses the link {}, which the command could change", crossed.link.path));
    }
    if (ground == Ground::kHidden && crossed.rule.access != Access::kDeny) {
      hidden_links_.push_back(std::move(crossed.link));
    }
  }
  links_.clear();
  return {};
}

// The nearest at or above `path`, but none from above the private places.
RuleMap::Rules::const_iterator RuleMap::RuleFor(std::string_view path) const {
  while (true) {
    const auto rule = rules_.find(path);
    if (rule != rules_.end() || path == "/" || path == "/dev" || path == "/proc") return rule;
    path = ParentOf(path);
  }
}

const PlacedRule* RuleMap::RuleAbout(std::string_view path) const {
  const auto rule = RuleFor(path);
  return rule != rules_.end() ? &rule->second : nullptr;
}

Ground RuleMap::GroundOf(std::string_view directory) const {
  const auto rule = RuleFor(directory);
  if (rule == rules_.end()) return IsPrivate(directory) ? Ground::kPrivate : Ground::kHidden;
  switch (rule->second.rule.access) {
    case Access::kDeny:
      return Ground::kHidden;
    case Access::kWrite:
      return Ground::kWritable;
    case Access::kRead:
      break;
  }
  return Ground::kReadOnly;
}

Ground RuleMap::GroundAround(std::string_view path) const {
  return path == "/dev" || path == "/proc" ? Ground::kPrivate : GroundOf(ParentOf(path));
}

}  // namespace holdfast::sandbox
