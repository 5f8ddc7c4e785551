#include <signal.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/environment_variable.h"
#include "base/paths.h"
#include "sys/argv.h"
#include "sys/pidfd.h"
#include "sys/socket_pair.h"
#include "sys/spawn.h"
#include "transport/dial.h"
#include "transport/lines_connection.h"
#include "transport/plain_stream.h"

namespace holdfast::transport {
namespace {

constexpr const char* kUsualSearchPath = "/usr/local/bin:/usr/bin:/bin";

// A child process that is killed, if it still runs, and reaped when this object is destroyed.
class OwnedChild {
 public:
  explicit OwnedChild(pid_t pid) : pid_(pid) {}
  ~OwnedChild() {
    ::kill(pid_, SIGKILL);  // nobody else reaps the child, so the pid is still its own
    (void)sys::AwaitStatus(pid_);
  }
  OwnedChild(const OwnedChild&) = delete;
  OwnedChild& operator=(const OwnedChild&) = delete;

 private:
  const pid_t pid_;
};

std::string FindProgram(const std::string& name) {
  if (name.contains('/')) return name;
  const std::string search_path = EnvironmentVariable("PATH").value_or(kUsualSearchPath);
  for (const std::string_view directory : DirectoriesIn(search_path)) {
    std::string path = fmt::format("{}/{}", directory.empty() ? "." : directory, name);
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return name;
}

Result<pid_t> StartChild(const ChildCommand& command, int stream) {
  if (command.argv.empty()) return Fail(ErrorKind::kInvalidParams, "the command of the server is empty");
  const std::string path = FindProgram(command.argv.front());
  const sys::Argv argv(command.argv);
  const auto pid = sys::SpawnProgram(
      {.path = path.c_str(), .argv = argv.data(), .environment = environ, .streams = {stream, stream, STDERR_FILENO}});
  if (!pid) return std::unexpected(pid.error().error);
  return *pid;
}

}  // namespace

// The child's input and output are one socket, because a write to a pipe whose reader has gone raises SIGPIPE.
Result<std::shared_ptr<rpc::Transport>> DialChild(loop::EventLoop& loop, const ChildCommand& command,
                                                  const Limits& limits) {
  TRY(sys::SocketPair sockets, sys::MakeSocketPair(sys::SocketKind::kStream));
  TRY_VOID(sys::SetBlocking(sockets.ours.get(), sys::Blocking::kNo));
  TRY(const pid_t pid, StartChild(command, sockets.theirs.get()));
  LinesStreams streams{.in = std::make_unique<PlainStream>(std::move(sockets.ours)),
                       .peer = fmt::format("{}, pid {}", command.argv.front(), pid),
                       .kept_until_closed = std::make_shared<OwnedChild>(pid),
                       .goodbye = Goodbye::kAwaitPeer};
  return ExchangeLines(loop, std::move(streams), limits);
}

}  // namespace holdfast::transport
