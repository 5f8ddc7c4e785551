#include "sandbox/confine/confinement.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/paths.h"
#include "sandbox/confine/landlock.h"
#include "sandbox/confine/port_ruleset.h"
#include "sys/argv.h"
#include "sys/file_limit.h"
#include "sys/inherit.h"
#include "sys/signals.h"

namespace holdfast::sandbox {
namespace {

// Returns 0 for a descriptor that is no socket. None of the options that are read here has that value on a socket.
int SocketOption(int fd, int option) {
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 ? value : 0;
}

bool HasPeer(int fd) {
  sockaddr_storage peer;
  socklen_t size = sizeof peer;
  return ::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) == 0;
}

// A datagram socket sends to any address that its user names, and so does the first message of a TCP socket without a
// peer (MSG_FASTOPEN). A command behind a proxy may call connect, and could call it on a socket of the host's network
// that it was given: a connected TCP socket can be connected again, a unix socket cannot.
bool ReachesOthers(int fd, Filter filter) {
  const int domain = SocketOption(fd, SO_DOMAIN), type = SocketOption(fd, SO_TYPE);
  if (type == 0 || filter == Filter::kOpenNetwork || filter == Filter::kGuardedNetwork) return false;
  const bool keeps_peer = type == SOCK_STREAM || (type == SOCK_SEQPACKET && domain == AF_UNIX);
  return !keeps_peer || !HasPeer(fd) || (IsBehindProxy(filter) && domain != AF_UNIX);
}

// A closed standard stream is opened, because its number would otherwise be given to the next file that is opened. A
// directory is refused, because paths that begin at it lead around every mount.
Result<> CheckStream(int fd, Filter filter) {
  struct stat status;
  if (::fstat(fd, &status) < 0) {
    const int opened = ::open("/dev/null", O_RDWR);  // without O_CLOEXEC, because the command inherits it
    if (opened == fd) return {};
    return FailErrno("open", "/dev/null", opened < 0 ? errno : EBADF);
  }
  if (S_ISDIR(status.st_mode))
    return Fail(ErrorKind::kInvalidRequest, fmt::format("descriptor {}: is a directory", fd));
  if (S_ISSOCK(status.st_mode) && ReachesOthers(fd, filter)) {
    return Fail(ErrorKind::kInvalidRequest,
                fmt::format("descriptor {}: is a socket that could reach others than its peer", fd));
  }
  return {};
}

// Returns whether a directory of PATH has a file of this name. An empty entry of PATH means the current directory.
bool IsOnPath(const std::string& name) {
  const char* const path = ::getenv("PATH");
  if (path == nullptr) return true;
  // An empty PATH has one entry, the current directory.
  for (const std::string_view directory : DirectoriesIn(*path != '\0' ? path : ".")) {
    const std::string file = fmt::format("{}/{}", directory.empty() ? "." : directory, name);
    if (::access(file.c_str(), F_OK) == 0) return true;
  }
  return false;
}

}  // namespace

void HoldSignals() {
  sys::BlockSignals();
  sys::ResetSignalActions();
}

Result<> CheckStreams(Filter filter) {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) TRY_VOID(CheckStream(fd, filter));
  return {};
}

Result<> PassOnly(std::span<const int> kept) {
  unsigned first = STDERR_FILENO + 1;
  for (const int fd : kept) {
    TRY_VOID(sys::LetInherit(fd));
    const auto number = static_cast<unsigned>(fd);
    if (first < number) ::close_range(first, number - 1, 0);
    first = number + 1;
  }
  if (::close_range(first, UINT_MAX, 0) < 0) return FailErrno("close_range");
  return {};
}

Result<> Confine(const Confinement& confinement) {
  LandlockOptions options;
  options.rules = confinement.landlock;
  options.passed_fds = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
  options.passed_fds.insert(options.passed_fds.end(), confinement.kept_fds.begin(), confinement.kept_fds.end());
  TRY_VOID(Restrict(options));
  // The larger ruleset comes last: the kernel copies all earlier ones for each that is entered.
  if (confinement.port_ruleset_fd) TRY_VOID(EnterPortRuleset(*confinement.port_ruleset_fd));
  return InstallFilter(MakeFilter(confinement.filter, StandsFor::kNothing, confinement.caller));
}

// execvp fails with EACCES when one directory of PATH may not be searched, also when the program is in none of them.
// That is reported as a program that does not exist.
NotExecuted Execute(const process::Command& command) {
  const std::string& file = command.program;
  if (const auto lowered = sys::LowerFileLimit(); !lowered) return {.status = 126, .error = lowered.error()};
  ::execvp(file.c_str(), sys::Argv(command.argv).data());
  int error = errno;
  if (error == EACCES && !file.contains('/') && !IsOnPath(file)) error = ENOENT;
  return {.status = error == ENOENT ? 127 : 126, .error = ErrnoError("exec", file, error)};
}

}  // namespace holdfast::sandbox
