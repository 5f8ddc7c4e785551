// The subcommand `holdfast doctor` tries out whether the sandbox works on this machine, and prints why it does not.
#pragma once

#include <memory>

namespace CLI {
class App;
}  // namespace CLI

namespace holdfast {

class DoctorCommand {
 public:
  explicit DoctorCommand(CLI::App& app);
  ~DoctorCommand();

  // Runs the examination that the flags ask for. The command line has to be parsed first. Returns the exit status: 1
  // if a whole examination found that the sandbox does not work, else 0.
  int Run() const;

 private:
  struct Options;
  std::unique_ptr<Options> options_;
};

}  // namespace holdfast
