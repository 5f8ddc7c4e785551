// The two ways in which a client says which sandbox it wants: a request about all the calls that follow, and a member
// of
// `_meta` about one call. Neither makes the server run a program that the client names: it uses its own helper.
#pragma once

#include <optional>
#include <string>

#include "wire/encode.h"

namespace holdfast::mcp {

// The params of codex/sandbox-state/update. Other members are ignored.
struct SandboxStateParams {
  wire::Json sandbox_policy;  // a legacy policy; a view of the message
  std::string sandbox_cwd;

  void Fields(wire::Decoder& f) {
    f.Required("sandboxPolicy", sandbox_policy);
    f.Required("sandboxCwd", sandbox_cwd);
  }
};

// The sandbox of one call. A member that is not listed could be a restriction, so it is refused.
struct CallSandbox {
  wire::Json permission_profile;  // views of the message
  wire::Json sandbox_policy;      // a legacy policy; the client approximates the profile by it if it sends both
  std::string sandbox_cwd;
  std::optional<bool> use_legacy_landlock;

  void Fields(wire::Decoder& f) {
    f.RefuseUnknown();
    f.Optional("permissionProfile", permission_profile);
    f.Optional("sandboxPolicy", sandbox_policy);
    f.Required("sandboxCwd", sandbox_cwd);
    f.Optional("useLegacyLandlock", use_legacy_landlock);
    for (const char* name : {"codexLinuxSandboxExe", "useLinuxSandboxBwrap", "useMxc"}) f.Known(name);
  }
};

}  // namespace holdfast::mcp
