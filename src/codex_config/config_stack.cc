#include "codex_config/config_stack.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/environment_variable.h"
#include "base/paths.h"
#include "base/result.h"
#include "base/toml.h"
#include "base/toml_file.h"
#include "base/utf8.h"
#include "files/disk/file.h"
#include "files/disk/rename.h"
#include "sys/read_to_end.h"

namespace holdfast::codex_config {
namespace {

// The user of a machine says in the own configuration which projects are trusted: `[projects."PATH"]` with
// `trust_level = "trusted"`. A project that is not trusted has no say in the configuration, because anybody may have
// written its files.
class ProjectTrust {
 public:
  // Takes over what a layer says; it overrides the layers before it. An unknown level is an error.
  Result<> Add(const toml::table& layer);

  // Returns the directories from the top of the project down to `cwd` that are trusted. A directory that is not listed
  // is trusted if the top of the project is, or the repository that the project is a worktree of.
  std::vector<std::string> TrustedDirectories(const std::string& cwd) const;

 private:
  enum class Level { kUnknown, kTrusted, kUntrusted };

  Level LevelOf(const std::string& directory) const;
  std::string TopOf(const std::string& cwd) const;

  std::map<std::string, Level> levels_;            // by the path as it is written
  std::vector<std::string> root_markers_{".git"};  // names by which the top of a project is known
};

constexpr size_t kMaxLinkFileBytes = 8192;
constexpr std::string_view kGitLink = "gitdir: ";

bool Exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

std::string Join(std::string_view directory, std::string_view name) {
  return fmt::format("{}{}{}", directory, directory.ends_with('/') ? "" : "/", name);
}

// Returns whether the directory has the marker. A directory `.git` that git would not take for a repository is none.
bool IsMarked(const std::string& directory, const std::string& marker) {
  const std::string path = Join(directory, marker);
  if (marker != ".git" || ::access((path + "/.").c_str(), F_OK) != 0) return Exists(path);
  return Exists(path + "/HEAD");
}

// Returns the first line of a small file.
std::optional<std::string> LineOf(const std::string& path) {
  const auto file = files::File::OpenForReading(path, files::Symlinks::kFollow);
  if (!file) return std::nullopt;
  auto text = sys::ReadToEnd(file->fd(), kMaxLinkFileBytes, path);
  if (!text) return std::nullopt;
  return text->substr(0, text->find('\n'));
}

// Returns the repository that the directory is a worktree of. Anybody can write a `.git` that names a repository, so
// the repository has to name the worktree too.
std::optional<std::string> RepositoryOf(const std::string& worktree) {
  const std::string link = Join(worktree, ".git");
  const auto line = LineOf(link);
  if (!line || !line->starts_with(kGitLink)) return std::nullopt;
  const std::string place = line->substr(kGitLink.size());
  const std::string_view worktrees = ParentOf(place), git = ParentOf(worktrees);
  if (!place.starts_with('/') || NameOf(worktrees) != "worktrees" || NameOf(git) != ".git") return std::nullopt;
  const auto back = LineOf(place + "/gitdir");
  if (!back) return std::nullopt;
  const auto named = files::Canonicalize(*back), own = files::Canonicalize(link);
  if (!named || !own || *named != *own) return std::nullopt;
  return std::string(ParentOf(git));
}

Result<> ProjectTrust::Add(const toml::table& layer) {
  if (const toml::array* const markers = layer["project_root_markers"].as_array()) {
    root_markers_.clear();
    for (const toml::node& marker : *markers) {
      if (const auto name = marker.value<std::string>()) root_markers_.push_back(*name);
    }
  }
  const toml::table* const projects = layer["projects"].as_table();
  if (projects == nullptr) return {};
  for (const auto& [path, project] : *projects) {
    const toml::table* const members = project.as_table();
    const auto level = members == nullptr ? std::nullopt : (*members)["trust_level"].value<std::string>();
    if (!level) continue;
    if (*level != "trusted" && *level != "untrusted") {
      return Fail(ErrorKind::kSystem,
                  fmt::format("projects.{}.trust_level: must be trusted or untrusted", std::string_view(path)));
    }
    levels_[std::string(path.str())] = *level == "trusted" ? Level::kTrusted : Level::kUntrusted;
  }
  return {};
}

ProjectTrust::Level ProjectTrust::LevelOf(const std::string& directory) const {
  if (const auto found = levels_.find(directory); found != levels_.end()) return found->second;
  const auto real = files::Canonicalize(directory);
  const auto found = real ? levels_.find(*real) : levels_.end();
  return found == levels_.end() ? Level::kUnknown : found->second;
}

// Returns the nearest directory with a marker, or `cwd` if there is none.
std::string ProjectTrust::TopOf(const std::string& cwd) const {
  for (std::string directory = cwd;; directory = ParentOf(directory)) {
    if (std::ranges::any_of(root_markers_, [&](const std::string& name) { return IsMarked(directory, name); })) {
      return directory;
    }
    if (directory == "/") return cwd;
  }
}

std::vector<std::string> ProjectTrust::TrustedDirectories(const std::string& cwd) const {
  const std::string top = TopOf(cwd);
  Level of_others = LevelOf(top);
  if (of_others == Level::kUnknown) {
    const auto repository = RepositoryOf(top);
    if (repository) of_others = LevelOf(*repository);
  }
  std::vector<std::string> trusted;
  for (std::string directory = cwd;; directory = ParentOf(directory)) {
    const Level own = LevelOf(directory);
    if ((own == Level::kUnknown ? of_others : own) == Level::kTrusted) trusted.push_back(directory);
    if (directory == top) break;
  }
  std::ranges::reverse(trusted);
  return trusted;
}

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
