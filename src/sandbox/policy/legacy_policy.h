// Legacy policies are the JSON sandbox policies that clients sent before there were permission profiles. Members and
// values of `type` may also be spelled in camelCase.
//
//   {"type":"danger-full-access"}
//   {"type":"read-only","network_access"?:bool}
//   {"type":"workspace-write","network_access"?:bool,"writable_roots"?:[PATH...],"exclude_tmpdir_env_var"?:bool,
//    "exclude_slash_tmp"?:bool}
//   {"type":"external-sandbox","network_access"?:"restricted"|"enabled"}
//
// Some versions could also restrict reading, by the members `access` and `read_only_access`. A policy in which they
// grant less than full access is refused, because its other members, as they are understood here, would allow reading
// everything. Every member that is not listed above for the policy's type is refused as well.
#pragma once

#include <span>

#include "base/result.h"
#include "sandbox/policy/permission_profile.h"
#include "wire/json.h"

namespace holdfast::sandbox {

// Returns the profile that means the same as the policy: a disabled profile for danger-full-access, an external one for
// external-sandbox. `others` names members of the object that the caller decodes itself; they are not refused.
Result<Profile> DecodeLegacyPolicy(wire::Json json, std::span<const char* const> others = {});

}  // namespace holdfast::sandbox
