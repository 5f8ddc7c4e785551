// The configuration of the published clients as it lies on this machine: files of the system, of the user and of
// trusted projects, which override each other.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/toml.h"

namespace holdfast::codex_config {

struct Layer {
  std::string source;     // a description for people
  std::string directory;  // in which the file lies
  toml::table table;
};

struct Stack {
  std::vector<Layer> layers;  // each overrides those before it
  size_t system_layers = 0;   // the first ones, which the user has no say in
};

struct ConfigPlaces {
  std::string system = "/etc/codex";
  std::string codex_home;
};

// These functions read the files that exist. They fail if one of them cannot be read or is not TOML.
Result<Stack> ReadConfig(const ConfigPlaces& places, const std::string& cwd);
Result<Stack> ReadRequirements(const ConfigPlaces& places);

// Returns the directory that CODEX_HOME names, with its links resolved, or `.codex` in the home directory if the
// variable is not set or empty. The directory that the variable names has to exist.
Result<std::string> FindCodexHome(const std::string& user_home);

}  // namespace holdfast::codex_config
