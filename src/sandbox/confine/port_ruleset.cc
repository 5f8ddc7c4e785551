#include "sandbox/confine/port_ruleset.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

#include "sandbox/confine/landlock.h"

namespace holdfast::sandbox {
namespace {

// The headers of older systems do not name these constants.
constexpr int kAbiOfPorts = 4;
constexpr uint64_t kConnectTcp = 1ull << 1;
constexpr int kRuleOfPort = 2;
constexpr uint32_t kLastPort = 65535;

struct RulesetAttributes {
  uint64_t handled_access_fs, handled_access_net;
};

struct PortAttributes {
  uint64_t allowed_access, port;
};

}  // namespace

Result<OwnedFd> MakePortRuleset(uint16_t shut_port) {
  if (const int abi = LandlockAbi(); abi < kAbiOfPorts) {
    return Fail(
        ErrorKind::kInvalidRequest,
        fmt::format("this kernel's Landlock cannot shut a port: it has ABI {}, and ABI {} (Linux 6.7) is needed", abi,
                    kAbiOfPorts));
  }
  const RulesetAttributes attributes = {.handled_access_fs = 0, .handled_access_net = kConnectTcp};
  OwnedFd ruleset(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0)));
  if (!ruleset.is_open()) return FailErrno("landlock_create_ruleset", "ports");
  for (uint32_t port = 1; port <= kLastPort; ++port) {
    if (port == shut_port) continue;
    const PortAttributes rule = {.allowed_access = kConnectTcp, .port = port};
    if (::syscall(SYS_landlock_add_rule, ruleset.get(), kRuleOfPort, &rule, 0) < 0) {
      return FailErrno("landlock_add_rule", fmt::format("port {}", port));
    }
  }
  return ruleset;
}

Result<> EnterPortRuleset(int ruleset) {
  if (::syscall(SYS_landlock_restrict_self, ruleset, 0) == 0) return {};
  return FailErrno("landlock_restrict_self", "ports");
}

}  // namespace holdfast::sandbox
