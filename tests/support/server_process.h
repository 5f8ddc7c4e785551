// A server process is the real server as a child of the test, with a directory of its own. Whatever the test does, the
// server is stopped and reaped. HOLDFAST_BINARY in the environment names another binary than that of this build.
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

// A directory that the destructor removes with everything in it.
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

// Returns a variable that every process which tests start has in its environment, so that processes which survive can
// be found.
std::string RunMarker();  // NAME=value

// Returns a variable for the environment of a server whose memory is measured. Under it AddressSanitizer keeps little
// of the freed memory. By default it keeps much, to find late uses of it, and that would look like growth.
std::string ThriftySanitizer();  // NAME=value

struct ServerOptions {
  std::vector<std::string> flags = {};
  std::vector<std::string> env = {};  // NAME=value, added to the environment of the test
  std::optional<uid_t> user = {};     // the user that it runs as; only a test that runs as root may set it
};

class ServerProcess {
 public:
  // Starts a server on a port of its own, unless the flags name another address, and waits until it has printed its
  // URL. A failure fails the test.
  static ServerProcess Start(std::vector<std::string> flags = {}) { return Start(ServerOptions{std::move(flags)}); }
  static ServerProcess Start(const ServerOptions& options);
  // Starts a server with --listen stdio. The protocol is on input() and output().
  static ServerProcess StartOnStdio(std::vector<std::string> flags = {});
  // Starts holdfast with these arguments, and waits until it has printed its URL.
  static ServerProcess StartAs(const std::vector<std::string>& arguments, const std::vector<std::string>& env = {});
  // Starts a server that writes its URL into this file, which must not exist, and waits for the file.
  static ServerProcess StartWithUrlFile(const std::string& file, ServerOptions options = {});
  // Starts holdfast with these arguments, and expects nothing of it.
  static ServerProcess Launch(const std::vector<std::string>& arguments, const std::vector<std::string>& env = {},
                              std::optional<uid_t> user = {});

  // Stops a server that still runs, and expects that no process which it started is alive then.
  ~ServerProcess();
  ServerProcess(ServerProcess&&) = default;
  ServerProcess& operator=(ServerProcess&&) = delete;

  const std::string& url() const { return url_; }
  pid_t pid() const { return pid_; }
  int input() const { return input_.get(); }
  int output() const { return output_.get(); }
  void CloseInput() { input_.Reset(); }

  void Signal(int signal) const;
  // Returns the exit code, or 128 + N after signal N; nothing if the server still runs after `patience`.
  std::optional<int> WaitForExit(std::chrono::milliseconds patience = kPatience);
  // Sends SIGTERM and expects exit code 0.
  void Stop();
  // Sends SIGKILL, so that the server cannot clean up.
  void Kill();

  // Returns what a server that has exited wrote to standard output after the line with its URL.
  std::string RestOfStdout();
  std::string Stderr() const;

 private:
  ServerProcess() = default;
  void ReadUrl();

  std::unique_ptr<TempDir> dir_ = std::make_unique<TempDir>();
  pid_t pid_ = -1;  // -1 once the server has been reaped
  std::string url_, early_stdout_;
  OwnedFd input_, output_;
};

// The result of RunHoldfast, which runs holdfast to its end.
struct Finished {
  int exit_code;
  std::string out, err;
};
Finished RunHoldfast(const std::vector<std::string>& arguments);

// Returns whether the tests and the server are built with a sanitizer, which makes them slower.
bool IsSanitized();

}  // namespace holdfast::support
