// The user of a machine says in the own configuration which projects are trusted: `[projects."PATH"]` with
// `trust_level = "trusted"`. A project that is not trusted has no say in the configuration, because anybody may have
// written its files.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/toml.h"

namespace holdfast::codex_config {

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

}  // namespace holdfast::codex_config
