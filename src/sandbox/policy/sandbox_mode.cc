#include "sandbox/policy/sandbox_mode.h"

#include <string>
#include <utility>
#include <vector>

#include "base/toml.h"
#include "sandbox/policy/location.h"
#include "sandbox/policy/location_key.h"
#include "sandbox/policy/profile_spelling.h"

namespace holdfast::sandbox {
namespace {

std::unexpected<Error> Refuse(std::string_view reason) { return Fail(ErrorKind::kInvalidParams, std::string(reason)); }

Result<std::vector<AbsolutePath>> RootsIn(const toml::node& node, std::string_view home) {
  const toml::array* list = node.as_array();
  if (list == nullptr) return Refuse("expected a list of paths");
  if (list->size() > kMaxEntries) return Refuse("too many paths");
  std::vector<AbsolutePath> roots;
  for (const toml::node& element : *list) {
    TRY(const std::string text, StringIn(element));
    auto path = ParseHomePath(text, home);
    if (!path) return Refuse("\"" + text + "\" " + path.error().message);
    roots.push_back(*std::move(path));
  }
  return roots;
}

// Reads one member of the table. The error is only the reason.
Result<> ReadSetting(std::string_view key, const toml::node& node, std::string_view home, WorkspaceSettings& settings) {
  if (key == "writable_roots") {
    TRY(settings.writable_roots, RootsIn(node, home));
  } else if (key == "network_access") {
    TRY(const bool enabled, FlagIn(node));
    settings.network = NetworkIf(enabled);
  } else if (key == "exclude_tmpdir_env_var") {
    TRY(settings.without_tmpdir, FlagIn(node));
  } else if (key == "exclude_slash_tmp") {
    TRY(settings.without_slash_tmp, FlagIn(node));
  } else {
    return Refuse("is not a known key");
  }
  return {};
}

}  // namespace

Result<WorkspaceSettings> ReadWorkspaceSettings(const TomlSection& section, std::string_view home) {
  WorkspaceSettings settings;
  for (const auto& [key, node] : section.table) {
    const auto read = ReadSetting(key.str(), node, home, settings);
    if (!read) return section.BadKey(key, read.error().message);
  }
  return settings;
}

Result<Profile> ProfileOfMode(const toml::node& node, const WorkspaceSettings& settings) {
  const auto mode = StringIn(node);
  if (mode && *mode == "read-only") return Profile{.policy = ReadOnly()};
  if (mode && *mode == "workspace-write") return Profile{.policy = WorkspaceWrite(settings)};
  if (mode && *mode == "danger-full-access") return Unrestricted();
  return Refuse("expected \"read-only\", \"workspace-write\" or \"danger-full-access\"");
}

}  // namespace holdfast::sandbox
