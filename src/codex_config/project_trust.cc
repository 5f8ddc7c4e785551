#include "codex_config/project_trust.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/paths.h"
#include "files/disk/file.h"
#include "files/disk/rename.h"
#include "sys/read_to_end.h"

namespace holdfast::codex_config {
namespace {

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

}  // namespace

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

}  // namespace holdfast::codex_config
