// The command line of the server has one flag for each setting, and --config and --print-config. The file overrides the
// defaults, and the flags override the file.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "exec_server/config/config.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace holdfast::exec_server {

// Registers the flags with the app. The app owns them, so Load and print_config are called after app.parse() and while
// the app exists.
class ConfigFlags {
 public:
  explicit ConfigFlags(CLI::App& app);

  Result<Config> Load() const;
  bool print_config() const;

 private:
  Result<Config> LoadFile() const;

  std::vector<CLI::Option*> options_;  // in the order of Settings()
  CLI::Option* config_file_;
  CLI::Option* print_config_;
};

}  // namespace holdfast::exec_server
