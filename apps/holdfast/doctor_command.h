// `holdfast doctor`: whether the sandbox works on this machine, and why not.
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

  // After the command line was parsed; gives the exit status: 0 when the sandbox works, 1 when not.
  int Run() const;

 private:
  struct Words;
  std::unique_ptr<Words> words_;
};

}  // namespace holdfast
