// Profiles in a TOML file, written by people:
//
//   [permissions.NAME]
//   description = "..."                # optional, for people
//
//   [permissions.NAME.filesystem]
//   glob_scan_max_depth = 2            # optional: how deep patterns are searched for, from 1
//   ":root" = "read"                   # and ":minimal", ":tmpdir", ":slash_tmp", ":project_roots"
//   "/srv/data" = "write"
//   "~/.ssh" = "deny"                  # or "none"
//   "/srv/**/*.key" = "deny"           # a pattern can only be denied
//
//   [permissions.NAME.filesystem.":project_roots"]
//   "." = "write"
//   "docs" = "read"
//   "**/*.env" = "none"
//
//   [permissions.NAME.network]
//   enabled = true                     # without it there is no network
//
//   [features]
//   use_legacy_landlock = true
//
// A key is a place, an absolute path, or one below the home directory (`~`, `~/x`); below ":project_roots", which may
// also be called ":workspace_roots", it is relative. A key with one of `*?[]{}\` is a pattern, but PATH/** is PATH.
// Other keys of a profile are refused, because a rule that is not understood would not be enforced; what else the file
// has besides `permissions` and `features` is not looked at.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "sandbox/policy/policy.h"

namespace holdfast::sandbox {

struct TomlText {
  std::string_view toml;
  std::string_view file_name;  // for errors
  std::string_view home;       // what `~` stands for; may be empty
};

// Only the named profile is looked at. Errors name file, line and key.
Result<Policy> ParseFileProfile(const TomlText& text, std::string_view name);

// The same from the file, `~` being $HOME.
Result<Policy> LoadProfile(const std::string& path, std::string_view name);

struct Features {
  bool use_legacy_landlock = false;

  friend bool operator==(const Features&, const Features&) = default;
};

Result<Features> ParseFeatures(std::string_view toml, std::string_view file_name);
Result<Features> LoadFeatures(const std::string& path);

}  // namespace holdfast::sandbox
