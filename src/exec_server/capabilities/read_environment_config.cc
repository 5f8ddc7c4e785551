#include "exec_server/capabilities/read_environment_config.h"

#include <unistd.h>

#include <array>
#include <climits>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/file_uri.h"
#include "codex_config/config_stack.h"
#include "codex_config/toml_selection.h"

namespace holdfast::exec_server {
namespace {

constexpr size_t kMaxPaths = 256;
constexpr size_t kMaxKeys = 64;  // of a path

std::unexpected<Error> Refuse(std::string message) { return Fail(ErrorKind::kInvalidParams, std::move(message)); }

Result<> CheckPaths(const char* name, const std::vector<wire::TomlPath>& paths) {
  if (paths.size() > kMaxPaths) return Refuse(fmt::format("{}: more than {} paths", name, kMaxPaths));
  for (const wire::TomlPath& path : paths) {
    if (path.empty()) return Refuse(fmt::format("{}: a path needs at least one key", name));
    if (path.size() > kMaxKeys) return Refuse(fmt::format("{}: a path has more than {} keys", name, kMaxKeys));
  }
  return {};
}

// Returns the part of each layer that was asked for. A layer without any is left out.
wire::ConfigLayers Selected(const codex_config::Stack& stack, const std::vector<wire::TomlPath>& paths) {
  wire::ConfigLayers selected;
  for (size_t i = 0; i < stack.layers.size(); ++i) {
    const codex_config::Layer& layer = stack.layers[i];
    const toml::table part = codex_config::Select(layer.table, paths);
    if (part.empty()) continue;
    if (i < stack.system_layers) ++selected.cloud_insertion_index;
    selected.layers.push_back(
        {.source = layer.source, .base_dir = FileUri(layer.directory), .toml = codex_config::TomlText(part)});
  }
  return selected;
}

std::string HostName() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace

Result<> CheckEnvironmentConfigParams(const wire::ReadEnvironmentConfigParams& params) {
  if (params.config_paths.empty() && params.requirements_paths.empty()) {
    return Refuse("configPaths and requirementsPaths: both are empty, at least one path is needed");
  }
  TRY_VOID(CheckPaths("configPaths", params.config_paths));
  return CheckPaths("requirementsPaths", params.requirements_paths);
}

Result<wire::ReadEnvironmentConfigResult> ReadEnvironmentConfig(const wire::ReadEnvironmentConfigParams& params,
                                                                const std::string& cwd, const UserPlaces& places) {
  TRY(std::string codex_home, codex_config::FindCodexHome(places.user_home));
  const codex_config::ConfigPlaces files{.system = places.system, .codex_home = codex_home};
  TRY(const codex_config::Stack config, codex_config::ReadConfig(files, cwd));
  TRY(const codex_config::Stack requirements, codex_config::ReadRequirements(files));
  return wire::ReadEnvironmentConfigResult{.user_home_dir = FileUri(places.user_home),
                                           .codex_home_dir = FileUri(codex_home),
                                           .hostname = HostName(),
                                           .config = Selected(config, params.config_paths),
                                           .requirements = Selected(requirements, params.requirements_paths)};
}

}  // namespace holdfast::exec_server
