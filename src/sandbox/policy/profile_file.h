// Profile files are TOML files in which people write profiles:
//
//   default_permissions = "NAME"       # optional: the profile that holds if none is named; or ":read-only",
//                                      # ":workspace", ":danger-full-access"
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
// characters `*?[]{}\` is a pattern, except that PATH/** means the same as PATH.
//
// Instead of `default_permissions` a file may have the older settings:
//
//   sandbox_mode = "workspace-write"   # or "read-only", "danger-full-access"
//
//   [sandbox_workspace_write]          # each member is optional
//   writable_roots = ["/srv/data", "~/cache"]
//   network_access = true
//   exclude_tmpdir_env_var = true
//   exclude_slash_tmp = true
//
// A file may be the config.toml of codex. Keys and tables that are not about sandboxes are ignored, with one exception:
// where `profile` names a table [profiles.NAME] with a `sandbox_mode` or `default_permissions`, that one holds. Keys of
// the tables above, and keys beginning with "sandbox", "permission" or "default_perm", are refused if they are not
// known, because a rule that is not understood would not be enforced.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sandbox/policy/permission_profile.h"
#include "sandbox/policy/policy.h"

namespace holdfast::sandbox {

struct TomlText {
  std::string_view toml;
  std::string_view file_name;  // for error messages
  std::string_view home;       // the directory that `~` stands for; may be empty
};

struct ProfileFile {
  std::optional<Profile> chosen = {};  // the profile that is asked for, else the one that the file itself chooses
  std::string undecided = {};          // why a file that is about sandboxes chooses none; empty in any other file
  Policy workspace_write;              // the policy workspace-write, with the settings of the file
  bool use_legacy_landlock = false;
};

// Reads the file for the profile `name`, or for what the file itself chooses if `name` is empty. Other profiles in the
// file are not checked. An error names the file, the line and the key.
Result<ProfileFile> ParseProfileFile(const TomlText& text, std::string_view name);
Result<ProfileFile> LoadProfileFile(const std::string& path, std::string_view home, std::string_view name);

}  // namespace holdfast::sandbox
