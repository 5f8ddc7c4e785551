// The command line of the server: one flag per setting, and --config and --print-config. Defaults yield to the file,
// the file to the flags.
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

// Borrows the options it registers: it is asked after app.parse(), while the app still lives.
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
