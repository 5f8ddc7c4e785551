// Permission profiles are policies in JSON. Clients send them, and the helper reads them, in any of these spellings:
//
//   {"type":"managed","file_system":FILES,"network":"restricted"|"enabled"}
//   {"type":"disabled"}
//   {"type":"external","network":"restricted"|"enabled"}
//   {"network":{"enabled":bool}|null,"file_system":{"entries":[ENTRY...]}|{"read":[PATH...],"write":[PATH...]}|null}
//   FILES: {"type":"restricted","entries":[ENTRY...],"glob_scan_max_depth"?:N} | {"type":"unrestricted"}
//   ENTRY: {"path":WHERE,"access":"read"|"write"|"deny"|"none","missing_path_behavior"?:"skip"}
//   WHERE: {"type":"path","path":PATH} | {"type":"glob_pattern","pattern":TEXT} | {"type":"special","value":PLACE}
//   PLACE: {"kind":"root"|"minimal"|"tmpdir"|"slash_tmp"} | {"kind":"project_roots","subpath"?:TEXT}
//          | {"kind":"unknown","path":TEXT}; "current_working_directory" is an older name of "project_roots"
//
// A member or a value that is not listed here is an error, because a rule that is not understood would not be enforced.
// A member without a meaning in its object is an error too: rules in a disabled profile, entries of unrestricted files.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "sandbox/policy/policy.h"
#include "sandbox/policy/profile_spelling.h"
#include "wire/json.h"

namespace holdfast::sandbox {

struct Profile {
  // A command with a disabled profile runs without a sandbox. With an external profile another sandbox,
  // which is not ours, restricts the files. Both leave `policy.files` absent, as an unrestricted managed profile does.
  ProfileType type = ProfileType::kManaged;
  Policy policy;

  friend bool operator==(const Profile&, const Profile&) = default;
};

// Returns the profile of a command that runs without a sandbox.
inline Profile Unrestricted() {
  return {.type = ProfileType::kDisabled, .policy = {.files = {}, .network = Network::kEnabled}};
}

// Decodes a profile. An error names the member that is at fault: `file_system.entries.2.access: is missing`.
Result<Profile> DecodeProfile(wire::Json json);

Result<Profile> ParseProfile(std::string_view text);

// Returns JSON that DecodeProfile decodes to an equal profile. Equal profiles have the same text.
std::string ProfileText(const Profile& profile);

}  // namespace holdfast::sandbox
