#include "sandbox/jail/landlock_stage.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "sandbox/confine/capabilities.h"
#include "sandbox/confine/confinement.h"
#include "sandbox/confine/landlock.h"
#include "sandbox/confine/port_ruleset.h"
#include "sys/signals.h"

namespace holdfast::sandbox {
namespace {

// Closes all descriptors but the standard streams and `fds`, which close when the command is executed.
Result<> KeepOnly(const LandlockStageFds& fds) {
  std::vector<int> kept;
  for (const auto fd : {fds.report, fds.port_ruleset, fds.exec_supervisor, fds.kept}) {
    if (fd && *fd > STDERR_FILENO) kept.push_back(*fd);
  }
  std::ranges::sort(kept);
  TRY_VOID(PassOnly(kept));
  for (const int fd : kept) {
    if (::fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) return FailErrno("fcntl", fmt::format("descriptor {}", fd));
  }
  return {};
}

}  // namespace

Result<> CheckLandlockAbi(int abi) {
  if (abi == 0) return Fail(ErrorKind::kInvalidRequest, "landlock: not in this kernel, or not enabled");
  if (abi >= kOldestLandlockAbi) return {};
  return Fail(ErrorKind::kInvalidRequest,
              fmt::format("landlock: this kernel has ABI {}, which cannot protect files from being truncated; ABI {} "
                          "(Linux 6.2) is needed",
                          abi, kOldestLandlockAbi));
}

Result<> EnterLandlockStage(const LandlockPlan& plan, Caller caller, const LandlockStageFds& fds) {
  TRY_VOID(CheckLandlockAbi(LandlockAbi()));
  HoldSignals();
  TRY_VOID(CheckStreams(plan.filter));
  TRY_VOID(KeepOnly(fds));
  TRY_VOID(DropCapabilities());
  if (::chdir(plan.working_directory.c_str()) < 0) return FailErrno("chdir", plan.working_directory);
  LandlockOptions options;
  options.rules = plan.landlock;
  options.passed_fds = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
  TRY(const int abi, Restrict(options));
  TRY_VOID(CheckLandlockAbi(abi));
  if (fds.port_ruleset) TRY_VOID(EnterPortRuleset(*fds.port_ruleset));
  const StandsFor stands_for = plan.landlock.empty() ? StandsFor::kNamespaces : StandsFor::kNamespacesAndMounts;
  TRY_VOID(InstallFilter(MakeFilter(plan.filter, stands_for, caller)));
  sys::LetSignalsIn();
  return {};
}

}  // namespace holdfast::sandbox
