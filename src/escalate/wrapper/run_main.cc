#include "escalate/wrapper/run_main.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/environment_variable.h"
#include "base/owned_fd.h"
#include "base/parse_number.h"
#include "base/result.h"
#include "base/version.h"
#include "escalate/messages/frame.h"
#include "escalate/messages/messages.h"
#include "exec_policy/denial_text.h"
#include "sys/argv.h"
#include "sys/descriptor_passing.h"
#include "sys/exit_codes.h"
#include "sys/io.h"
#include "sys/read_link.h"
#include "sys/socket_pair.h"
#include "sys/write_all.h"

namespace holdfast::escalate {
namespace {

constexpr const char* kShell = "/bin/sh";

int Complain(const std::string& file, std::string_view reason, int exit_code) {
  sys::WriteAll(STDERR_FILENO, fmt::format("{}: {}\n", file, reason));
  return exit_code;
}

// A script is text up to the end of its first line, like for other shells. A file that cannot be read is taken for one,
// because /bin/sh then gives the reason.
bool IsText(const std::string& file) {
  const OwnedFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  char start[256];
  const ssize_t n = fd.is_open() ? sys::Read(fd.get(), start, sizeof start) : 0;
  const std::string_view read(start, n > 0 ? static_cast<size_t>(n) : 0);
  return !read.substr(0, read.find('\n')).contains('\0');
}

int ExecuteScript(const std::string& file, std::vector<std::string> argv) {
  // A bare name would be looked for in PATH as well.
  const std::string script = file.contains('/') ? file : "./" + file;
  std::vector<std::string> words = {kShell, script};
  for (size_t i = 1; i < argv.size(); ++i) words.push_back(std::move(argv[i]));
  ::execv(kShell, sys::Argv(words).data());
  const int error = errno;
  return Complain(kShell, ErrnoText(error), sys::ExitCodeFor(error));
}

// Executes the file with the arguments and the environment of this process. A file that the kernel does not know how to
// execute is run as a script of /bin/sh, if it is text. Returns only if nothing can be executed, with the exit code of
// shells: 127 if a file is missing, 126 otherwise. The reason is written to standard error.
int ExecuteHere(const std::string& file, std::vector<std::string> argv) {
  ::execv(file.c_str(), sys::Argv(argv).data());
  const int error = errno;
  if (error == ENOEXEC) {
    if (!IsText(file)) return Complain(file, "cannot execute binary file: " + ErrnoText(error), sys::kCannotExecute);
    return ExecuteScript(file, std::move(argv));
  }
  if (error == ENOENT && ::access(file.c_str(), F_OK) == 0) {
    return Complain(file, "cannot execute: its interpreter is missing", sys::kNotFound);
  }
  return Complain(file, ErrnoText(error), sys::ExitCodeFor(error));
}

// The wrapper's connection to the server. Every wrapper of a shell call makes a stream socket of its own and passes the
// other end through the datagram socket that all processes of the call inherit.
class ServerLink {
 public:
  // The datagram socket may be blocking or not: its description is shared with other wrappers, so it is left as it is.
  static Result<ServerLink> Open(int datagram_socket);

  // Sends one message, and waits until the socket has taken it.
  Result<> Send(std::string_view text, std::span<const int> fds = {});

  // Waits for one message. Returns nothing when the server has closed the connection.
  Result<std::optional<std::string>> Receive();

 private:
  explicit ServerLink(OwnedFd socket) : socket_(std::move(socket)) {}

  OwnedFd socket_;
  FrameReader reader_;
};

// The queue of the datagram socket may be full for a moment, because many wrappers share it.
Result<> PassToServer(int datagram_socket, int fd) {
  for (;;) {
    const int error = sys::TrySendDescriptors(datagram_socket, {&fd, 1});
    if (error == 0) return {};
    if (error != EAGAIN) return FailErrno("sendmsg", "to the server", error);
    pollfd room{.fd = datagram_socket, .events = POLLOUT, .revents = 0};
    if (::poll(&room, 1, -1) < 0 && errno != EINTR) return FailErrno("poll");
  }
}

Result<ServerLink> ServerLink::Open(int datagram_socket) {
  TRY(sys::SocketPair pair, sys::MakeSocketPair(sys::SocketKind::kStream));
  // Published servers expect that their end does not block.
  TRY_VOID(sys::SetBlocking(pair.theirs.get(), sys::Blocking::kNo));
  TRY_VOID(PassToServer(datagram_socket, pair.theirs.get()));
  return ServerLink(std::move(pair.ours));
}

Result<> ServerLink::Send(std::string_view text, std::span<const int> fds) {
  if (text.size() > kMaxFrameBytes) return Fail(ErrorKind::kLimit, "the arguments and variables are too long");
  const std::string frame = FrameOf(text);
  TRY(const size_t sent, sys::SendWithDescriptors(socket_.get(), frame, fds));
  return sys::SendAll(socket_.get(), std::string_view(frame).substr(sent));
}

Result<std::optional<std::string>> ServerLink::Receive() {
  std::vector<char> buffer;
  for (;;) {
    buffer.resize(reader_.wanted());
    const ssize_t n = sys::Read(socket_.get(), buffer.data(), buffer.size());
    if (n < 0) return FailErrno("read", "from the server", static_cast<int>(-n));
    if (n == 0) return std::nullopt;
    TRY(auto frame, reader_.Add({buffer.data(), static_cast<size_t>(n)}, {}));
    if (frame) return std::move(frame->text);
  }
}

using exec_policy::Action;

// The exit code when the server has ended the command, as it does at a time limit. Everything else that belongs to the
// call ends then too.
constexpr int kServerGone = 1;

constexpr std::string_view kUsage =
    "usage: holdfast-execve-wrapper FILE [ARGV0 [ARGUMENT...]]\n"
    "A shell that is built for it executes this program in the place of each FILE.\n";

// Opens /dev/null in the place of each standard stream that is closed, because a socket of the wrapper could otherwise
// get its number. The descriptors are close-on-exec: the program that is executed later finds those streams closed.
Result<> ReserveStandardStreams() {
  for (;;) {
    TRY(OwnedFd null, sys::OpenDevNull());
    if (null.get() > STDERR_FILENO) return {};
    (void)null.Release();
  }
}

Result<int> SocketOfServer() {
  const auto value = EnvironmentVariable(kSocketVariable.data());
  if (!value) return Fail(ErrorKind::kInvalidRequest, fmt::format("{} is not set", kSocketVariable));
  const auto fd = ParseNumber<int>(*value);
  if (!fd || *fd < 0) {
    return Fail(ErrorKind::kInvalidRequest, fmt::format("{} is not a descriptor: {}", kSocketVariable, *value));
  }
  return *fd;
}

// A directory that was removed has no path. The kernel's name for it is absolute, and leads nowhere.
std::string WorkingDirectory() {
  std::array<char, 4096> path;
  if (::getcwd(path.data(), path.size()) != nullptr && path[0] == '/') return path.data();
  return sys::ReadLink("/proc/self/cwd").value_or("/");
}

bool IsOurVariable(std::string_view entry) {
  return std::ranges::any_of(kWrapperVariables, [&](std::string_view name) {
    return entry.starts_with(name) && entry.substr(name.size()).starts_with('=');
  });
}

ExecRequest RequestFor(std::string file, std::vector<std::string> argv) {
  ExecRequest request{.file = std::move(file), .argv = std::move(argv), .workdir = WorkingDirectory()};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!IsOurVariable(*entry)) request.environment.emplace_back(*entry);
  }
  return request;
}

Result<ExecAnswer> Ask(ServerLink& server, const ExecRequest& request) {
  TRY_VOID(server.Send(Encode(request)));
  TRY(const auto text, server.Receive());
  if (!text) {
    const char* const hint = IsBeyondJson(request) ? "; it may not know arguments or variables that are not UTF-8" : "";
    return Fail(ErrorKind::kDisconnected, fmt::format("the server closed the connection without an answer{}", hint));
  }
  return DecodeAnswer(*text);
}

int Deny(const ExecAnswer& answer) {
  sys::WriteAll(STDERR_FILENO, exec_policy::DenialText(answer.reason.value_or("")) + "\n");
  return 1;
}

// Waits for the end of the command that the server runs outside, with the standard streams of this process. A signal
// has its usual effect on this process alone; when it ends, the server kills the command.
Result<int> StandInForCommand(ServerLink& server) {
  const HandOver streams{.fds = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}};
  TRY_VOID(server.Send(Encode(streams), streams.fds));
  TRY(const auto text, server.Receive());
  if (!text) return kServerGone;
  TRY(const ExitCode end, DecodeExitCode(*text));
  return end.exit_code;
}

Result<int> Run(const std::string& file, const std::vector<std::string>& argv) {
  TRY_VOID(ReserveStandardStreams());
  TRY(const int datagram_socket, SocketOfServer());
  TRY(ServerLink server, ServerLink::Open(datagram_socket));
  TRY(const ExecAnswer answer, Ask(server, RequestFor(file, argv)));
  switch (answer.action) {
    case Action::kRun:
      return ExecuteHere(file, argv);
    case Action::kDeny:
      return Deny(answer);
    case Action::kEscalate:
      return StandInForCommand(server);
  }
  std::unreachable();
}

}  // namespace

int RunWrapper(int argc, char** argv) {
  const std::string file = argc > 1 ? argv[1] : "--help";
  if (argc <= 2 && file == "--help") {
    sys::WriteAll(argc == 2 ? STDOUT_FILENO : STDERR_FILENO, kUsage);
    return argc == 2 ? 0 : 2;
  }
  if (argc == 2 && file == "--version") {
    sys::WriteAll(STDOUT_FILENO, fmt::format("holdfast-execve-wrapper {}\n", kVersion));
    return 0;
  }
  const auto exit_code = Run(file, {argv + 2, argv + argc});
  if (exit_code) return *exit_code;
  sys::WriteAll(STDERR_FILENO, fmt::format("holdfast-execve-wrapper: {}: {}\n", file, exit_code.error().message));
  return 1;
}

}  // namespace holdfast::escalate
