#include "sandbox/plan/rule_map.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/paths.h"
#include "sandbox/resolve/protected_names.h"

namespace holdfast::sandbox {
namespace {

// The directories that programs need to run, on a usual system and on NixOS.
constexpr std::array<std::string_view, 8> kMinimalRoots = {
    "/bin", "/sbin", "/usr", "/etc", "/lib", "/lib64", "/nix/store", "/run/current-system/sw",
};

std::string_view NameOfAccess(Access access) {
  if (access == Access::kDeny) return "deny";
  return access == Access::kWrite ? "write" : "read";
}

std::unexpected<Error> CannotEnforce(const Rule& rule, std::string_view reason,
                                     ErrorKind kind = ErrorKind::kInvalidRequest) {
  return Fail(kind, fmt::format("{} {}: {}", NameOfAccess(rule.access), rule.path, reason));
}

bool IsPrivate(std::string_view path) { return IsAtOrBelow(path, "/dev") || IsAtOrBelow(path, "/proc"); }

// Returns whether a rule has no effect. Every sandbox has its private /dev and /proc, so a rule cannot grant these, nor
// anything in /proc. Single files of /dev can be granted.
bool AddsNothing(const Rule& rule, std::string_view path) {
  return rule.access != Access::kDeny && (path == "/dev" || IsAtOrBelow(path, "/proc"));
}

// Returns whether a path is about a process. A rule for it cannot be enforced: inside of the sandbox /proc has other
// processes than outside.
bool IsAboutProcesses(const PathWalk& walk) {
  if (!IsBelow(walk.path, "/proc")) return false;
  const char first = walk.path[std::string_view("/proc/").size()];
  return walk.end == PathWalk::End::kNowhere || (first >= '0' && first <= '9');
}

// Returns whether a rule makes a protected name in / writable where / is writable anyway. Clients add such rules when
// their user allows a command to write everywhere.
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

Result<RuleMap> RuleMap::Create(const Resolution& resolution, const MadeLinks& made) {
  RuleMap map;
  for (const Rule& rule : resolution.rules) {
    // The rule for / already covers a name that is a link. The target of the link is not meant to be
    // opened: another rule may deny it.
    if (OpensNameInRoot(rule, resolution)) {
      TRY(const PathWalk walk, map.walker_.Walk(rule.path));
      if (!walk.links.empty()) continue;
    }
    TRY_VOID(map.CheckPlace(rule, resolution));
    if (!map.GoesByKeptLink(rule, resolution.kept)) TRY_VOID(map.AddRule(rule));
  }
  for (const std::string& path : resolution.denied_by_pattern) TRY_VOID(map.AddMatch(path));
  if (resolution.minimal && map.ExposureOf("/") == Exposure::kHidden) {
    for (const std::string_view path : kMinimalRoots) TRY_VOID(map.AddMinimalRoot(path));
  }
  TRY_VOID(map.CheckLinks(made));
  TRY_VOID(map.AddKept(resolution.kept));
  TRY_VOID(map.SortLinks());
  return map;
}

Result<> RuleMap::CheckPlace(const Rule& rule, const Resolution& resolution) {
  const auto before = resolution.led_to.find(rule.path);
  if (before == resolution.led_to.end()) return {};
  if (walker_.Follow(rule.path).path == before->second) return {};
  return CannotEnforce(rule, "it has been replaced in the meantime", ErrorKind::kNotFound);
}

// A rule that grants nothing is enforced by other rules where it goes by a kept link: the resolution has them for what
// the link leads to.
bool RuleMap::GoesByKeptLink(const Rule& rule, const KeptWays& kept) {
  if (rule.access == Access::kWrite || kept.links.empty()) return false;
  return std::ranges::any_of(walker_.Follow(rule.path).links, [&](const CrossedLink& link) {
    return std::ranges::find(kept.links, link.path) != kept.links.end();
  });
}

Result<> RuleMap::AddRule(const Rule& rule) {
  TRY(PathWalk walk, walker_.Walk(rule.path));
  if (rule.if_missing == IfMissing::kSkip && IsNotThere(walk)) return {};
  if (AddsNothing(rule, walk.path)) return {};
  if (IsAboutProcesses(walk)) return CannotEnforce(rule, "/proc has other processes inside of the sandbox");
  for (const CrossedLink& link : walk.links) links_.push_back({.link = link, .rule = rule});
  Place(rule, std::move(walk));
  return {};
}

// Denies a match of a pattern. A match in the private /dev or /proc is ignored unless a rule is about it: a command
// could otherwise make a link that matches, and take away /dev/null from the commands after it.
Result<> RuleMap::AddMatch(const std::string& path) {
  const Rule rule{.path = path, .access = Access::kDeny, .if_missing = IfMissing::kSkip};
  TRY(PathWalk walk, walker_.Walk(path));
  if (IsNotThere(walk)) return {};
  if (IsPrivate(walk.path) && RuleFor(walk.path) == rules_.end()) return {};
  if (walk.path == "/") return CannotEnforce(rule, "is a link to /, so that everything would be denied");
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

Result<> RuleMap::AddNestedGit(const NestedGit& git) {
  for (const std::string& path : git.elsewhere) {
    TRY(PathWalk walk, walker_.Walk(path));
    const bool is_as_found = walk.exists() && walk.links.empty();
    if (is_as_found && !IsPrivate(path)) Place({.path = path, .access = Access::kRead}, std::move(walk));
  }
  for (const std::string& path : git.links) {
    const PathWalk walk = walker_.Follow(path);
    const bool is_as_found = !walk.links.empty() && walk.links.front().path == path;
    if (is_as_found && ExposureAround(path) == Exposure::kWritable) pinned_links_.push_back(path);
  }
  return {};
}

Result<> RuleMap::AddKept(const KeptWays& kept) {
  const auto replaced = [](const std::string& path) {
    return CannotEnforce({.path = path, .access = Access::kRead}, "it has been replaced in the meantime",
                         ErrorKind::kNotFound);
  };
  for (const std::string& path : kept.links) {
    const PathWalk walk = walker_.Follow(path);
    if (walk.links.empty() || walk.links.front().path != path) return replaced(path);
    if (ExposureAround(path) == Exposure::kWritable) pinned_links_.push_back(path);
  }
  for (const std::string& path : kept.directories) {
    const PathWalk walk = walker_.Follow(path);
    if (walk.end != PathWalk::End::kDirectory || !walk.links.empty()) return replaced(path);
    if (ExposureAround(path) == Exposure::kWritable) pinned_directories_.push_back(path);
  }
  return {};
}

void RuleMap::Place(const Rule& rule, PathWalk walk) {
  const std::string path = walk.path;
  const auto [place, is_first] = rules_.try_emplace(path, PlacedRule{.rule = rule, .walk = std::move(walk)});
  if (!is_first && Outranks(rule.access, place->second.rule.access)) place->second.rule = rule;
}

// A link to a missing place counts too: the command could make what the link leads to.
Result<> RuleMap::CheckLinks(const MadeLinks& made) const {
  for (const LinkOfRule& crossed : links_) {
    if (crossed.rule.access != Access::kWrite) continue;
    TRY(const bool is_suspect, made.Suspect(crossed.link));
    if (!is_suspect) continue;
    return CannotEnforce(crossed.rule,
                         fmt::format("crosses the link {}, which a sandboxed command could have made: name the "
                                     "directory itself, or make the link elsewhere",
                                     crossed.link.path));
  }
  return {};
}

Result<> RuleMap::SortLinks() {
  for (LinkOfRule& crossed : links_) {
    const Exposure exposure = ExposureAround(crossed.link.path);
    if (exposure == Exposure::kWritable) {
      return CannotEnforce(crossed.rule,
                           fmt::format("crosses the link {}, which the command could change", crossed.link.path));
    }
    if (exposure == Exposure::kHidden && crossed.rule.access != Access::kDeny) {
      hidden_links_.push_back(std::move(crossed.link));
    }
  }
  links_.clear();
  return {};
}

// Returns the nearest rule at or above `path`. A rule above /dev or /proc does not apply to paths in them.
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

Exposure RuleMap::ExposureOf(std::string_view directory) const {
  const auto rule = RuleFor(directory);
  if (rule == rules_.end()) return IsPrivate(directory) ? Exposure::kPrivate : Exposure::kHidden;
  switch (rule->second.rule.access) {
    case Access::kDeny:
      return Exposure::kHidden;
    case Access::kWrite:
      return Exposure::kWritable;
    case Access::kRead:
      break;
  }
  return Exposure::kReadOnly;
}

Exposure RuleMap::ExposureAround(std::string_view path) const {
  return path == "/dev" || path == "/proc" ? Exposure::kPrivate : ExposureOf(ParentOf(path));
}

}  // namespace holdfast::sandbox
