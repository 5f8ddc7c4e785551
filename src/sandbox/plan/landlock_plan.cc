#include "sandbox/plan/landlock_plan.h"

#include <fcntl.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "sandbox/plan/make_plan.h"
#include "sandbox/plan/own_programs.h"
#include "sandbox/plan/plan_options.h"
#include "sandbox/plan/rule_map.h"
#include "sandbox/resolve/directory_listing.h"

namespace holdfast::sandbox {
namespace {

using Rights = LandlockRule::Rights;

std::unexpected<Error> DoesNotFit(std::string reason) {
  return Fail(ErrorKind::kInvalidRequest, "landlock cannot " + std::move(reason));
}

Result<> CheckRule(const RuleMap& map, const std::string& path, const Rule& rule) {
  if (rule.access == Access::kDeny) return DoesNotFit(fmt::format("deny {} inside of what may be read", rule.path));
  if (rule.access == Access::kRead && map.ExposureAround(path) == Exposure::kWritable) {
    return DoesNotFit(fmt::format("keep {} read-only inside of what may be written", rule.path));
  }
  return {};
}

// Refuses a policy under which the command could put its own socket into the directory of the user's private server.
Result<> CheckPrivateDirs(const RuleMap& map, const PlanOptions& options) {
  for (const std::string& path : options.private_dirs) {
    if (map.ExposureAround(path) != Exposure::kWritable) continue;
    return DoesNotFit(fmt::format("hide {}, a directory of the private server, inside of what may be written", path));
  }
  return {};
}

// Returns rules that let everything be read except /dev. There is no private /dev without mounts, and the one of the
// host has disks and the terminals of other users in it; only a few harmless devices are granted. Links in / need no
// rule, because the directories that they lead to have one, or are in /dev.
Result<std::vector<LandlockRule>> ReadEverything() {
  const OwnedFd root(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root.is_open()) return FailErrno("open", "/");
  std::vector<LandlockRule> rules = {{.path = "/", .rights = Rights::kList}};
  TRY_VOID(ListDirectory(root.get(), "", [&](std::string_view name, EntryKind kind) {
    const bool has_content = kind == EntryKind::kDirectory || kind == EntryKind::kFile;
    if (has_content && name != "dev") rules.push_back({.path = fmt::format("/{}", name), .rights = Rights::kRead});
    return Listing::kContinue;
  }));
  std::ranges::sort(rules, {}, &LandlockRule::path);
  for (const char* device : {"/dev/null", "/dev/zero", "/dev/full"}) rules.push_back({device, Rights::kWrite});
  for (const char* device : {"/dev/random", "/dev/urandom"}) rules.push_back({device, Rights::kRead});
  return rules;
}

Result<std::vector<LandlockRule>> RulesFor(const Resolution& resolution, const PlanOptions& options,
                                           const MadeLinks& made) {
  TRY(const RuleMap map, RuleMap::Create(resolution, made));
  if (!map.pinned_links().empty()) return DoesNotFit(fmt::format("keep the link {}", map.pinned_links().front()));
  TRY_VOID(CheckOwnPrograms(map, options.program_directory));
  TRY_VOID(CheckPrivateDirs(map, options));
  if (map.ExposureOf("/") == Exposure::kHidden) return DoesNotFit("hide what may not be read");
  TRY(std::vector<LandlockRule> rules, ReadEverything());
  for (const auto& [path, placed] : map.rules()) {
    TRY_VOID(CheckRule(map, path, placed.rule));
    if (placed.rule.access != Access::kWrite || !placed.walk.exists()) continue;
    if (path == "/") return DoesNotFit("open / without the devices and the kernel's settings in it");
    rules.push_back({.path = path, .rights = Rights::kWrite});
  }
  return rules;
}

}  // namespace

Result<LandlockPlan> MakeLandlockPlan(const Resolution& resolution, const PlanOptions& options, const MadeLinks& made) {
  if (!options.hidden.empty()) return DoesNotFit(fmt::format("hide {}, a file of the server", options.hidden.front()));
  if (options.proxy_network != ProxyNetwork::kNone)
    return DoesNotFit("give the command a network of its own, with proxies in it");
  LandlockPlan plan;
  plan.filter = FilterFor(resolution.network, options);
  plan.working_directory = options.command_cwd;
  if (!resolution.unrestricted) {
    TRY(plan.landlock, RulesFor(resolution, options, made));
  }
  return plan;
}

}  // namespace holdfast::sandbox
