// Permission profiles: the JSON that clients send and the sandbox helper takes, in every spelling in use.
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
// A member or a word that is not named here is an error, because a rule that is not understood would not be enforced.
// So is a member that its object has no use for: rules in a disabled profile, entries of unrestricted files.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "sandbox/policy/policy.h"
#include "sandbox/policy/profile_spelling.h"
#include "wire/json.h"

namespace holdfast::sandbox {

struct Profile {
  // Disabled: run without any sandbox. External: somebody else restricts the files. Both leave `policy.files` absent,
  // as an unrestricted managed profile does.
  ProfileType type = ProfileType::kManaged;
  Policy policy;

  friend bool operator==(const Profile&, const Profile&) = default;
};

// An error names the member that is at fault: `file_system.entries.2.access: is missing`.
Result<Profile> DecodeProfile(wire::Json json);

Result<Profile> ParseProfile(std::string_view text);

// JSON that DecodeProfile takes for the same profile: the same text for equal ones.
std::string ProfileText(const Profile& profile);

}  // namespace holdfast::sandbox
