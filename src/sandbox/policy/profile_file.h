// Profile files are TOML files in which people write profiles:
//
//   [permissions.NAME]
//   description = "..."                # optional, for people
//
//   [permissions.NAME.filesystem]
//   glob_scan_max_depth = 2            # optional, at least 1: how many levels deep patterns are searched for
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
// A key of `filesystem` is a place, an absolute path, or a path below the home directory (`~`, `~/x`). In the table
// ":project_roots", which may also be called ":workspace_roots", keys are relative paths. A key with one of the
// characters `*?[]{}\` is a pattern, except that PATH/** means the same as PATH. Other keys of a profile are refused,
// because a rule that is not understood would not be enforced. Tables of the file other than `permissions` and
// `features` are ignored.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "sandbox/policy/policy.h"

namespace holdfast::sandbox {

struct TomlText {
  std::string_view toml;
  std::string_view file_name;  // for error messages
  std::string_view home;       // the directory that `~` stands for; may be empty
};

// Returns the policy of the profile `name`. Other profiles in the file are not checked. An error names the file, the
// line and the key.
Result<Policy> ParseFileProfile(const TomlText& text, std::string_view name);

// Reads the file and parses the profile `name` in it. `~` stands for $HOME.
Result<Policy> LoadProfile(const std::string& path, std::string_view name);

struct Features {
  bool use_legacy_landlock = false;

  friend bool operator==(const Features&, const Features&) = default;
};

Result<Features> ParseFeatures(std::string_view toml, std::string_view file_name);
Result<Features> LoadFeatures(const std::string& path);

}  // namespace holdfast::sandbox
