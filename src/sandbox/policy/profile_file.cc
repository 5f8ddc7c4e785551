#include "sandbox/policy/profile_file.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/toml_file.h"
#include "sandbox/policy/builtin_policies.h"
#include "sandbox/policy/permissions_table.h"
#include "sandbox/policy/sandbox_mode.h"
#include "sandbox/policy/toml_section.h"

namespace holdfast::sandbox {
namespace {

using Member = TomlSection::Member;

constexpr const char* kMode = "sandbox_mode";
constexpr const char* kWorkspaceTable = "sandbox_workspace_write";
constexpr const char* kPermissions = "permissions";
constexpr const char* kDefault = "default_permissions";

constexpr std::array<std::string_view, 4> kKeysOfFile{kMode, kWorkspaceTable, kPermissions, kDefault};
constexpr std::array<std::string_view, 2> kKeysOfCodexProfile{kMode, kDefault};
constexpr std::array<std::string_view, 3> kBeginnings{"sandbox", "permission", "default_perm"};

// Refuses keys that look as if they were about sandboxes, such as a mistyped one. All others are codex's own.
Result<> CheckKeys(const TomlSection& section, std::span<const std::string_view> known) {
  for (const auto& [key, node] : section.table) {
    const std::string_view name = key.str();
    const auto begins = [name](std::string_view beginning) { return name.starts_with(beginning); };
    if (std::ranges::none_of(kBeginnings, begins) || std::ranges::find(known, name) != known.end()) continue;
    return section.BadKey(key, "is not a known key");
  }
  return {};
}

// FileReader reads one file. Its functions return errors that name the file, the line and the key.
class FileReader {
 public:
  FileReader(const TomlSection& file, std::string_view home) : file_(file), home_(home) {}

  Result<ProfileFile> Read(std::string_view name) {
    TRY_VOID(CheckKeys(file_, kKeysOfFile));
    TRY_VOID(ReadWorkspaceTable());
    ProfileFile read{.workspace_write = WorkspaceWrite(settings_)};
    TRY(read.use_legacy_landlock, UsesLegacyLandlock());
    TRY(read.chosen, name.empty() ? OwnChoice() : Named(name));
    if (!read.chosen) read.undecided = Undecided();
    return read;
  }

 private:
  Result<> ReadWorkspaceTable() {
    const auto member = file_.Find(kWorkspaceTable);
    if (!member) return {};
    TRY(const TomlSection section, file_.Below(member->first, *member->second));
    TRY(settings_, ReadWorkspaceSettings(section, home_));
    return {};
  }

  Result<bool> UsesLegacyLandlock() const {
    const auto features = file_.Find("features");
    if (!features) return false;
    TRY(const TomlSection section, file_.Below(features->first, *features->second));
    const auto member = section.Find("use_legacy_landlock");
    if (!member) return false;
    const auto flag = FlagIn(*member->second);
    if (!flag) return section.BadKey(member->first, flag.error().message);
    return *flag;
  }

  Result<std::optional<Profile>> Named(std::string_view name) const {
    if (auto builtin = Builtin(name)) return *std::move(builtin);
    const auto permissions = file_.Find(kPermissions);
    const toml::table* profiles = permissions ? permissions->second->as_table() : nullptr;
    if (profiles == nullptr) return NoSuchProfile(name);
    const TomlSection section{file_.file_name, kPermissions, *profiles};
    const auto found = section.Find(name);
    if (!found) return NoSuchProfile(name);
    const auto& [key, node] = *found;
    TRY(const TomlSection profile, section.Below(key, *node));
    TRY(Policy policy, ReadPermissions(profile, home_));
    if (!policy.files) return section.BadKey(key, "has no table filesystem, so the command could not read any file");
    return Profile{.policy = std::move(policy)};
  }

  // The profiles that exist in every file. No profile of a file has a name that begins with a colon.
  static std::optional<Profile> Builtin(std::string_view name) {
    if (name == ":read-only") return Profile{.policy = ReadOnly()};
    if (name == ":workspace") return Profile{.policy = WorkspaceWrite()};
    if (name == ":danger-full-access") return Unrestricted();
    return std::nullopt;
  }

  Result<std::optional<Profile>> OwnChoice() const {
    TRY(const auto of_profile, ChoiceOfCodexProfile());
    TRY(const auto of_file, ChoiceIn(file_));
    return of_profile ? of_profile : of_file;
  }

  // Returns the choice of the table [profiles.NAME] that the key `profile` names.
  Result<std::optional<Profile>> ChoiceOfCodexProfile() const {
    const auto name = file_.Find("profile"), profiles = file_.Find("profiles");
    const toml::table* table = profiles ? profiles->second->as_table() : nullptr;
    if (!name || table == nullptr) return std::nullopt;
    const auto text = StringIn(*name->second);
    if (!text) return file_.BadKey(name->first, text.error().message);
    const TomlSection all{file_.file_name, "profiles", *table};
    const auto found = all.Find(*text);
    if (!found) return std::nullopt;
    TRY(const TomlSection profile, all.Below(found->first, *found->second));
    TRY_VOID(CheckKeys(profile, kKeysOfCodexProfile));
    return ChoiceIn(profile);
  }

  Result<std::optional<Profile>> ChoiceIn(const TomlSection& section) const {
    const auto mode = section.Find(kMode), permissions = section.Find(kDefault);
    if (mode && permissions) {
      return section.BadKey(permissions->first, "contradicts sandbox_mode; remove one of the two");
    }
    if (mode) return Choose(section, *mode, ProfileOfMode(*mode->second, settings_));
    if (!permissions) return std::nullopt;
    const auto name = StringIn(*permissions->second);
    if (!name) return section.BadKey(permissions->first, name.error().message);
    return Named(*name);
  }

  static Result<std::optional<Profile>> Choose(const TomlSection& section, const Member& member,
                                               Result<Profile> profile) {
    if (!profile) return section.BadKey(member.first, profile.error().message);
    return *std::move(profile);
  }

  std::string Undecided() const {
    const std::string names = ProfileNames();
    if (!names.empty()) {
      return fmt::format("profile {}: chooses none of its profiles; name one by --profile: {}", file_.file_name, names);
    }
    if (!file_.Find(kWorkspaceTable)) return {};
    return fmt::format("profile {}: has a table {}, but no {}; add {} = \"workspace-write\", or give --workspace-write",
                       file_.file_name, kWorkspaceTable, kMode, kMode);
  }

  std::unexpected<Error> NoSuchProfile(std::string_view name) const {
    const std::string names = ProfileNames();
    return Fail(ErrorKind::kInvalidParams, fmt::format("profile {}: has no table permissions.{}{}{}", file_.file_name,
                                                       name, names.empty() ? "" : "; its profiles are ", names));
  }

  std::string ProfileNames() const {
    const auto permissions = file_.Find(kPermissions);
    const toml::table* profiles = permissions ? permissions->second->as_table() : nullptr;
    std::string names;
    if (profiles == nullptr) return names;
    for (const auto& [key, node] : *profiles) names.append(names.empty() ? "" : ", ").append(key.str());
    return names;
  }

  const TomlSection& file_;
  const std::string_view home_;
  WorkspaceSettings settings_;
};

}  // namespace

Result<ProfileFile> ParseProfileFile(const TomlText& text, std::string_view name) {
  TRY(const toml::table table, ParseToml(text.toml, "profile", text.file_name));
  const TomlSection file{text.file_name, "", table};
  return FileReader(file, text.home).Read(name);
}

Result<ProfileFile> LoadProfileFile(const std::string& path, std::string_view home, std::string_view name) {
  TRY(const std::string toml, ReadTomlFile(path));
  return ParseProfileFile({toml, path, home}, name);
}

}  // namespace holdfast::sandbox
