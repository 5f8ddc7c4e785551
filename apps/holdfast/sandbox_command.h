// `holdfast sandbox`: the sandbox for people.
#pragma once

#include <memory>

namespace CLI {
class App;
}  // namespace CLI

namespace holdfast {

class SandboxCommand {
 public:
  explicit SandboxCommand(CLI::App& app);
  ~SandboxCommand();

  // After the command line was parsed; gives the exit status.
  int Run() const;

 private:
  struct Words;
  std::unique_ptr<Words> words_;
};

}  // namespace holdfast
