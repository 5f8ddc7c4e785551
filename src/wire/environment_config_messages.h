// Params and result of environmentConfig/read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::wire {

using TomlPath = std::vector<std::string>;  // the keys that lead to a value

struct ReadEnvironmentConfigParams {
  std::string cwd;
  std::vector<TomlPath> config_paths, requirements_paths;

  void Fields(auto& f) {
    f.Required("cwd", cwd);
    f.Required("configPaths", config_paths);
    f.Required("requirementsPaths", requirements_paths);
  }
};

// The part of one file that was asked for.
struct ConfigLayer {
  std::string source;    // a description for people
  std::string base_dir;  // the directory of the file, as a URI
  std::string toml;

  void Fields(auto& f) {
    f.Required("source", source);
    f.Required("baseDir", base_dir);
    f.Required("toml", toml);
  }
};

struct ConfigLayers {
  std::vector<ConfigLayer> layers;  // each overrides those before it
  uint64_t cloud_insertion_index = 0;

  void Fields(auto& f) {
    f.Required("layers", layers);
    f.Required("cloudInsertionIndex", cloud_insertion_index);
  }
};

struct ReadEnvironmentConfigResult {
  std::string user_home_dir, codex_home_dir, hostname;
  ConfigLayers config, requirements;

  void Fields(auto& f) {
    f.Required("userHomeDir", user_home_dir);
    f.Required("codexHomeDir", codex_home_dir);
    f.Required("hostname", hostname);
    f.Required("config", config);
    f.Required("requirements", requirements);
  }
};

}  // namespace holdfast::wire
