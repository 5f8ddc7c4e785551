#include "doctor/kernel_findings.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "base/result.h"

namespace holdfast::doctor {
namespace {

struct LandlockStep {
  int abi;
  std::string_view covers;
};

// The features that each version of the Landlock interface added. The sandbox does not use Landlock for TCP ports; the
// network namespace and the filter restrict these.
constexpr std::array kLandlockSteps = {
    LandlockStep{1, "files"},    LandlockStep{2, "moves"},       LandlockStep{3, "truncate"},
    LandlockStep{4, "tcpPorts"}, LandlockStep{5, "deviceIoctl"}, LandlockStep{6, "abstractSockets"},
    LandlockStep{6, "signals"},  LandlockStep{7, "audit"},
};

Finding OfErrno(int error) {
  if (error == 0) return {State::kOk};
  // unshare fails with ENOSPC at the limit, and with EINVAL or ENOSYS if the kernel is built without the namespace.
  if (error == ENOSPC) return {State::kRefused, "the limit on namespaces is reached"};
  const bool unknown = error == EINVAL || error == ENOSYS;
  return {unknown ? State::kMissing : State::kRefused, ErrnoText(error)};
}

Finding ActionFinding(uint32_t action) {
  return OfErrno(::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0 ? 0 : errno);
}

uint64_t Number(sandbox::Wsl wsl) {
  switch (wsl) {
    case sandbox::Wsl::kNone:
      return 0;
    case sandbox::Wsl::kWsl1:
      return 1;
    case sandbox::Wsl::kWsl2:
      return 2;
  }
  return 0;
}

}  // namespace

Host DescribeHost(const sandbox::HostFacts& facts) {
  return {.kernel = facts.kernel_release,
          .container = facts.container,
          .capabilities = fmt::format("{:016x}", facts.effective_capabilities),
          .wsl = Number(facts.wsl),
          .uid = ::geteuid(),
          .in_sandbox = facts.in_our_sandbox,
          .chrooted = facts.chrooted};
}

NamespacesReport DescribeNamespaces(const NamespaceErrors& errors) {
  const auto of = [&](NamespaceTrial trial) { return OfErrno(errors[static_cast<size_t>(trial)]); };
  return {.user = of(NamespaceTrial::kUser),
          .id_map = of(NamespaceTrial::kIdMap),
          .mount = of(NamespaceTrial::kMount),
          .ipc = of(NamespaceTrial::kIpc),
          .uts = of(NamespaceTrial::kUts),
          .network = of(NamespaceTrial::kNetwork),
          .pid = of(NamespaceTrial::kPid),
          .fresh_proc = of(NamespaceTrial::kFreshProc)};
}

LandlockReport DescribeLandlock(int abi) {
  LandlockReport report;
  report.abi = static_cast<uint64_t>(abi);
  report.finding.state = abi > 0 ? State::kOk : State::kMissing;
  if (abi == 0)
    report.finding.detail = "this kernel is older than 5.13, is built without Landlock, or has it switched off (lsm=)";
  for (const LandlockStep& step : kLandlockSteps) {
    if (abi >= step.abi) report.covers.emplace_back(step.covers);
  }
  return report;
}

SeccompReport DescribeSeccomp(const sandbox::HostFacts& facts) {
  return {.filter = ActionFinding(SECCOMP_RET_ERRNO),
          .user_notify = ActionFinding(SECCOMP_RET_USER_NOTIF),
          .mode = static_cast<uint64_t>(facts.seccomp_mode)};
}

AppArmorReport DescribeAppArmor(const sandbox::HostFacts& facts) {
  return {.finding = {facts.apparmor ? State::kOk : State::kMissing},
          .restricts_user_namespaces = facts.apparmor_restricts_userns,
          .profile = facts.apparmor_profile};
}

}  // namespace holdfast::doctor
