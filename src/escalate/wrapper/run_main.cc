#include "escalate/wrapper/run_main.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/environment_variable.h"
#include "base/parse_number.h"
#include "base/version.h"
#include "escalate/messages/messages.h"
#include "escalate/messages/request.h"
#include "escalate/messages/variables.h"
#include "escalate/wrapper/execution.h"
#include "escalate/wrapper/server_link.h"
#include "exec_policy/denial_text.h"
#include "sys/io.h"
#include "sys/read_link.h"
#include "sys/write_all.h"

namespace holdfast::escalate {
namespace {

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
