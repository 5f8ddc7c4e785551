#include "sandbox/plan_inputs.h"

#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/environment_variable.h"
#include "base/paths.h"
#include "sandbox/passed_text.h"
#include "sandbox/private_dirs.h"
#include "sandbox/resolve/given_roots.h"
#include "sandbox/resolve/resolve.h"
#include "sandbox/resolve/temporary_directory.h"
#include "sys/own_program.h"

namespace holdfast::sandbox {

std::expected<std::string, Failure> ReadProfileText(const SandboxedCommand& command) {
  if (command.profile_fd) {
    auto passed = ReadPassedText(*command.profile_fd);
    if (!passed) return Fails(kBadUsage, passed.error().message);
    return *std::move(passed);
  }
  if (!command.profile) return Fails(kInternal, "--permission-profile is missing");
  return *command.profile;
}

std::expected<Profile, Failure> ReadProfile(const std::string& text) {
  auto profile = ParseProfile(text);
  if (!profile) return Fails(kBadUsage, "permission profile: " + profile.error().message);
  return *std::move(profile);
}

Result<Profile> ProfileOf(const SandboxedCommand& command) {
  auto text = ReadProfileText(command);
  if (!text) return Fail(ErrorKind::kInvalidParams, std::move(text).error().message);
  auto profile = ReadProfile(*text);
  if (!profile) return Fail(ErrorKind::kInvalidParams, std::move(profile).error().message);
  return *std::move(profile);
}

Result<Resolution> ResolutionFor(const Policy& policy, const SandboxedCommand& command, WalkMemory* memory) {
  std::optional<std::string> tmpdir;
  if (NamesTemporaryDirectory(policy)) {
    std::string wanted = command.tmpdir ? *command.tmpdir : EnvironmentVariable("TMPDIR").value_or("");
    auto directory = ResolveTemporaryDirectory({.wanted = std::move(wanted), .of_server = command.server_tmpdir});
    if (directory) tmpdir = *std::move(directory);
  }
  return Resolve(policy, {.policy_cwd = command.policy_cwd,
                          .project_roots = command.project_roots,
                          .tmpdir = std::move(tmpdir),
                          .memory = memory});
}

PlanOptions OptionsFor(const SandboxedCommand& command, const Resolution& resolution, MountsBy mounts_by) {
  return {.command_cwd = command.working_directory(),
          .fresh_proc = command.fresh_proc,
          .missing_names = command.file_helper ? MissingNames::kRefused : MissingNames::kCovered,
          .mounts_by = mounts_by,
          .proxy_network = command.proxy_network,
          .port_is_shut = command.port_ruleset_fd.has_value(),
          .hidden = command.hidden,
          .private_dirs = FindPrivateDirs(command.private_dirs, resolution),
          .program_directory = ProgramDirectory(command)};
}

MadeLinks MadeLinksFor(const SandboxedCommand& command) {
  return MadeLinks::In(command.server_tmpdir, command.given_roots_fd);
}

Result<> RememberRoots(const SandboxedCommand& command, const NamespacePlan& plan) {
  if (!command.given_roots_fd) return {};
  std::vector<std::string> roots;
  for (const Mount& mount : plan.mounts) {
    const auto* const root = std::get_if<WritableBind>(&mount);
    if (root != nullptr && !IsAtOrBelow(root->path, "/dev")) roots.push_back(root->path);
  }
  return GivenRoots::Add(*command.given_roots_fd, roots);
}

Result<> RememberRoots(const SandboxedCommand& command, const LandlockPlan& plan) {
  if (!command.given_roots_fd) return {};
  std::vector<std::string> roots;
  for (const LandlockRule& rule : plan.landlock) {
    const bool is_root = rule.rights == LandlockRule::Rights::kWrite && !IsAtOrBelow(rule.path, "/dev");
    if (is_root) roots.push_back(rule.path);
  }
  return GivenRoots::Add(*command.given_roots_fd, roots);
}

std::string ProgramDirectory(const SandboxedCommand& command) {
  return command.program_directory.empty() ? sys::OwnDirectory() : command.program_directory;
}

}  // namespace holdfast::sandbox
