// The sandbox policies that came before permission profiles. Members and tags are also taken in camelCase.
//
//   {"type":"danger-full-access"}
//   {"type":"read-only","network_access"?:bool}
//   {"type":"workspace-write","network_access"?:bool,"writable_roots"?:[PATH...],"exclude_tmpdir_env_var"?:bool,
//    "exclude_slash_tmp"?:bool}
//   {"type":"external-sandbox","network_access"?:"restricted"|"enabled"}
//
// Some versions could restrict reading too (`access`, `read_only_access`): unless these grant full access, they are
// refused, because the rest of the policy would grant it. So is every member that is not named here for its type.
#pragma once

#include <span>

#include "base/result.h"
#include "sandbox/policy/permission_profile.h"
#include "wire/json.h"

namespace holdfast::sandbox {

// As the profile that means the same: danger-full-access is a disabled one, external-sandbox an external one. Members
// called as one of `others` belong to somebody else.
Result<Profile> DecodeLegacyPolicy(wire::Json json, std::span<const char* const> others = {});

}  // namespace holdfast::sandbox
