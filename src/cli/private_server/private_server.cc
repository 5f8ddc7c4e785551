#include "cli/private_server/private_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include <fmt/format.h>

#include "sys/argv.h"
#include "sys/io.h"
#include "sys/own_program.h"
#include "sys/spawn.h"

namespace holdfast::cli {
namespace {

constexpr mode_t kOwnerOnly = 0600;
constexpr const char* kIdleLimitMs = "600000";
constexpr off_t kLongestLog = 1 << 20;

Result<OwnedFd> Open(const std::string& path, int flags) {
  OwnedFd file(::open(path.c_str(), flags | O_CREAT | O_NOFOLLOW | O_CLOEXEC, kOwnerOnly));
  if (!file.is_open()) return FailErrno("open", path);
  return file;
}

// Waits for the lock, which the kernel gives back when its owner ends, however it ends.
Result<OwnedFd> TakeLock(const std::string& path) {
  TRY(OwnedFd file, Open(path, O_RDWR));
  while (::flock(file.get(), LOCK_EX) < 0) {
    if (errno != EINTR) return FailErrno("flock", path);
  }
  return file;
}

// The log of earlier servers is kept until it is long.
Result<OwnedFd> OpenLog(const std::string& path) {
  TRY(OwnedFd file, Open(path, O_WRONLY | O_APPEND));
  if (::lseek(file.get(), 0, SEEK_END) > kLongestLog) (void)::ftruncate(file.get(), 0);
  return file;
}

std::string LastLineOf(const std::string& path) {
  std::ifstream file(path);
  std::string last;
  for (std::string line; std::getline(file, line);) last = line;
  return last;
}

// Waits until the server prints its URL, which it does when it listens.
Result<> AwaitUrl(int output, const PrivateServerOptions& options) {
  pollfd entry{.fd = output, .events = POLLIN, .revents = 0};
  const int ready = ::poll(&entry, 1, static_cast<int>(options.patience.count()));
  char first;
  if (ready == 1 && sys::Read(output, &first, 1) == 1) return {};
  return Fail(ErrorKind::kSystem, fmt::format("the private server did not start: {}; its log is {}",
                                              ready == 0 ? "it takes too long" : LastLineOf(options.directory.log()),
                                              options.directory.log()));
}

// Starts the server as a grandchild in a session of its own, so that neither the end of this program nor a signal from
// the terminal reaches it. Returns when the server listens.
Result<> Start(const PrivateServerOptions& options) {
  TRY(const OwnedFd log, OpenLog(options.directory.log()));
  TRY(const OwnedFd null, sys::OpenDevNull());
  TRY(sys::Pipe output, sys::MakePipe(sys::OurEnd::kRead));
  const std::string program = options.program.empty() ? sys::OwnProgram() : options.program;
  std::vector<std::string> words = {
      program,      "exec-server",          "--listen", options.directory.url(), "--exit-when-idle-ms",
      kIdleLimitMs, "--sandbox-check=false"};
  words.insert(words.end(), options.more_flags.begin(), options.more_flags.end());
  sys::Argv argv(words);
  const sys::Program server{.path = program.c_str(),
                            .argv = argv.data(),
                            .environment = environ,
                            .streams = {null.get(), output.write_end.get(), log.get()}};
  auto in_child = [&] {
    ::setsid();
    (void)::chdir("/");  // the server must not keep a directory in use; it runs elsewhere if this fails
    return sys::SpawnProgram(server) ? 0 : 1;
  };
  TRY(const pid_t child, sys::Spawn(sys::Sharing::kNothing, in_child));
  if (sys::AwaitStatus(child) != 0) return Fail(ErrorKind::kSystem, fmt::format("cannot start {}", program));
  output.write_end.Reset();  // so that the end of the server is the end of the pipe
  return AwaitUrl(output.read_end.get(), options);
}

}  // namespace

bool IsPrivateServerUp(const RuntimeDir& directory) {
  const std::string path = directory.socket();
  sockaddr_un address{};
  if (path.size() >= sizeof address.sun_path) return false;
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, path.size());
  const OwnedFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  return ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 || errno == EAGAIN;
}

Result<> EnsurePrivateServer(const PrivateServerOptions& options) {
  TRY_VOID(PrepareRuntimeDir(options.directory));
  if (IsPrivateServerUp(options.directory)) return {};
  TRY(const OwnedFd lock, TakeLock(options.directory.lock()));
  if (IsPrivateServerUp(options.directory)) return {};  // another command was faster
  return Start(options);
}

}  // namespace holdfast::cli
