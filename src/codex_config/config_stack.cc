#include "codex_config/config_stack.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/environment_variable.h"
#include "base/toml_file.h"
#include "base/utf8.h"
#include "codex_config/project_trust.h"
#include "files/disk/file.h"
#include "files/disk/rename.h"
#include "sys/read_to_end.h"

namespace holdfast::codex_config {
namespace {

constexpr size_t kMaxFileBytes = 4u << 20;
constexpr size_t kMaxProjectLayers = 64;

// What a project may not decide, even if it is trusted: where the client sends the user's words and credentials, and
// what it runs by itself.
constexpr std::array kKeysOfUsers{"chatgpt_base_url",
                                  "experimental_realtime_ws_base_url",
                                  "model_provider",
                                  "model_providers",
                                  "notify",
                                  "openai_base_url",
                                  "otel"};

// Returns nothing if there is no such file.
Result<std::optional<toml::table>> ReadTable(const std::string& path) {
  auto file = files::File::OpenForReading(path, files::Symlinks::kFollow);
  if (!file && file.error().kind == ErrorKind::kNotFound) return std::nullopt;
  if (!file) return Fail(ErrorKind::kSystem, std::move(file).error().message);
  auto text = sys::ReadToEnd(file->fd(), kMaxFileBytes, path);
  if (!text) return Fail(ErrorKind::kSystem, std::move(text).error().message);
  if (!IsUtf8(*text)) return Fail(ErrorKind::kSystem, fmt::format("read {}: is not UTF-8", path));
  auto table = ParseToml(*text, "config", path);
  if (!table) return Fail(ErrorKind::kSystem, std::move(table).error().message);
  return *std::move(table);
}

Result<> AddLayer(Stack& stack, std::string_view kind, const std::string& directory, std::string_view name) {
  const std::string path = fmt::format("{}/{}", directory, name);
  TRY(std::optional<toml::table> table, ReadTable(path));
  if (!table) return {};
  std::string source = kind.empty() ? path : fmt::format("{} ({})", kind, path);
  stack.layers.push_back({.source = std::move(source), .directory = directory, .table = *std::move(table)});
  return {};
}

Result<> AddProject(Stack& stack, const std::string& directory) {
  if (stack.layers.size() >= kMaxProjectLayers) {
    return Fail(ErrorKind::kLimit, fmt::format("config: more than {} files", kMaxProjectLayers));
  }
  const size_t before = stack.layers.size();
  TRY_VOID(AddLayer(stack, "project", directory, "config.toml"));
  if (stack.layers.size() == before) return {};
  for (const char* key : kKeysOfUsers) stack.layers.back().table.erase(key);
  return {};
}

}  // namespace

Result<Stack> ReadConfig(const ConfigPlaces& places, const std::string& cwd) {
  Stack stack;
  TRY_VOID(AddLayer(stack, "system", places.system, "config.toml"));
  stack.system_layers = stack.layers.size();
  TRY_VOID(AddLayer(stack, "user", places.codex_home, "config.toml"));
  ProjectTrust trust;
  for (const Layer& layer : stack.layers) TRY_VOID(trust.Add(layer.table));
  for (const std::string& directory : trust.TrustedDirectories(cwd)) {
    const std::string of_project = (directory == "/" ? "" : directory) + "/.codex";
    if (of_project != places.codex_home) TRY_VOID(AddProject(stack, of_project));
  }
  TRY_VOID(AddLayer(stack, "legacy managed_config.toml", places.system, "managed_config.toml"));
  return stack;
}

Result<Stack> ReadRequirements(const ConfigPlaces& places) {
  Stack stack;
  TRY_VOID(AddLayer(stack, "", places.system, "requirements.toml"));
  stack.system_layers = stack.layers.size();
  return stack;
}

Result<std::string> FindCodexHome(const std::string& user_home) {
  const std::string named = EnvironmentVariable("CODEX_HOME").value_or("");
  if (named.empty()) return user_home + "/.codex";
  auto real = files::Canonicalize(named.starts_with('/') ? named : "/proc/self/cwd/" + named);
  if (!real) return Fail(ErrorKind::kSystem, fmt::format("CODEX_HOME: {}", real.error().message));
  return real;
}

}  // namespace holdfast::codex_config
