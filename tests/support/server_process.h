// The real server as a child of the test: started on a directory of its own, told to stop and reaped, whatever the test
// does. HOLDFAST_BINARY in the environment names another binary than the one of this build.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/owned_fd.h"
#include "support/test_socket.h"

namespace holdfast::support {

// Goes with everything in it.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  std::string Path() const { return path_; }
  std::string Path(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

// Every process that the tests start carries it in its environment, so whatever survives can be found.
std::string RunMarker();  // NAME=value

// For the environment of a server whose memory is measured: AddressSanitizer holds little of the freed memory back,
// which it does to find late uses of it, and which looks like growth.
std::string ThriftySanitizer();  // NAME=value

struct ServerOptions {
  std::vector<std::string> flags = {};
  std::vector<std::string> env = {};  // NAME=value, beside what the test itself has
  std::optional<uid_t> user = {};     // who it runs as; root may choose
};

class ServerProcess {
 public:
  // Serves on a port of its own, unless the flags say otherwise, and is ready. A failure fails the test.
  static ServerProcess Start(std::vector<std::string> flags = {}) { return Start(ServerOptions{std::move(flags)}); }
  static ServerProcess Start(const ServerOptions& options);
  // --listen stdio: the protocol is on input() and output().
  static ServerProcess StartOnStdio(std::vector<std::string> flags = {});
  // Whatever it does; nothing is expected of it.
  static ServerProcess Launch(const std::vector<std::string>& arguments, const std::vector<std::string>& env = {},
                              std::optional<uid_t> user = {});

  // Stops a server that still runs, and then expects that nothing it started is alive.
  ~ServerProcess();
  ServerProcess(ServerProcess&&) = default;
  ServerProcess& operator=(ServerProcess&&) = delete;

  const std::string& url() const { return url_; }
  pid_t pid() const { return pid_; }
  int input() const { return input_.get(); }
  int output() const { return output_.get(); }
  void CloseInput() { input_.Reset(); }

  void Signal(int signal) const;
  // The exit code, or 128 + signal. Nothing when it still runs after `patience`.
  std::optional<int> WaitForExit(std::chrono::milliseconds patience = kPatience);
  // SIGTERM; exit code 0 is expected.
  void Stop();
  // SIGKILL: the server cannot clean up.
  void Kill();

  // What it has written to stdout beside the URL line, up to its end; for a server that has exited.
  std::string RestOfStdout();
  std::string Stderr() const;

 private:
  ServerProcess() = default;
  void ReadUrl();

  std::unique_ptr<TempDir> dir_ = std::make_unique<TempDir>();
  pid_t pid_ = -1;  // of a server that has not been reaped
  std::string url_, early_stdout_;
  OwnedFd input_, output_;
};

// Runs holdfast to its end.
struct Finished {
  int exit_code;
  std::string out, err;
};
Finished RunHoldfast(const std::vector<std::string>& arguments);

// Whether the tests and the server carry a sanitizer's weight.
bool IsSanitized();

}  // namespace holdfast::support
