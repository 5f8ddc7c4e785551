#include "cli/private_server/private_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "base/parse_number.h"
#include "base/paths.h"
#include "base/result.h"
#include "sys/argv.h"
#include "sys/io.h"
#include "sys/own_program.h"
#include "sys/spawn.h"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

constexpr mode_t kOwnerOnly = 0600;
// flock has no time limit of its own, and a lock that is given back makes no event.
constexpr auto kLockPause = 20ms;

std::unexpected<Error> Unsafe(const std::string& path, std::string_view reason) {
  return Fail(ErrorKind::kPermissionDenied, fmt::format("{} {}; remove it", path, reason));
}

std::unexpected<Error> CannotOpen(const std::string& path, int reason) {
  if (reason == ELOOP) return Unsafe(path, "is a link");
  // A pipe that nobody reads, a socket, or a directory.
  if (reason == ENXIO || reason == EISDIR) return Unsafe(path, "is not a regular file");
  return FailErrno("open", path, reason);
}

// Returns the owner of the lock on the file with this number, by a line of /proc/locks such as
// "1: FLOCK  ADVISORY  WRITE 708 00:13:12345 0 EOF".
std::optional<pid_t> OwnerIn(const std::string& line, std::string_view file) {
  std::istringstream words(line);
  std::string number, type, kind, mode, owner, place;
  words >> number >> type >> kind >> mode >> owner >> place;
  if (type != "FLOCK" || place != file) return std::nullopt;
  return ParseNumber<pid_t>(owner);
}

std::optional<pid_t> OwnerOfLock(int file) {
  struct stat status;
  if (::fstat(file, &status) < 0) return std::nullopt;
  const std::string number = fmt::format("{:02x}:{:02x}:{}", major(status.st_dev), minor(status.st_dev), status.st_ino);
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    if (const auto owner = OwnerIn(line, number); owner && *owner > 0) return owner;
  }
  return std::nullopt;
}

std::string HolderOf(int file) {
  const auto owner = OwnerOfLock(file);
  if (!owner) return "a process that /proc does not show";
  std::ifstream comm(fmt::format("/proc/{}/comm", *owner));
  std::string name;
  std::getline(comm, name);
  return fmt::format("process {} ({})", *owner, name);
}

// Opens a file of the open directory, and makes it if it is missing. `path` is its whole path. Fails, with the remedy,
// if it is a link, a pipe or anything else than a regular file, if it belongs to another user or has another name too.
Result<OwnedFd> OpenRuntimeFile(int directory, const std::string& path, int flags) {
  const std::string name(NameOf(path));
  OwnedFd file(
      ::openat(directory, name.c_str(), flags | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, kOwnerOnly));
  struct stat status;
  if (!file.is_open()) return CannotOpen(path, errno);
  if (::fstat(file.get(), &status) < 0) return FailErrno("stat", path);
  if (!S_ISREG(status.st_mode)) return Unsafe(path, "is not a regular file");
  if (status.st_uid != ::geteuid()) return Unsafe(path, "belongs to another user");
  if (status.st_nlink != 1) return Unsafe(path, "has another name too");
  return file;
}

// Locks a file for as long as the descriptor is open: the kernel gives the lock back when its owner ends, however it
// ends. Fails after `limit` and names the process that holds the lock, if /proc shows it.
Result<> LockRuntimeFile(int file, const std::string& path, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (::flock(file, LOCK_EX | LOCK_NB) < 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return FailErrno("flock", path);
    if (std::chrono::steady_clock::now() >= end) {
      return Fail(ErrorKind::kTimeout, fmt::format("the lock {} is held by {}, and was not given back within {} ms; "
                                                   "wait for that process or end it",
                                                   path, HolderOf(file), limit.count()));
    }
    std::this_thread::sleep_for(kLockPause);
  }
  return {};
}

using runtime_dir::PrepareRuntimeDir;

constexpr const char* kIdleLimitMs = "600000";
constexpr off_t kLongestLog = 1 << 20, kEndOfLog = 1 << 12;
// Another command holds the lock while it starts a server.
constexpr int kStartsToWaitFor = 2;

// The log of earlier servers is kept until it is long.
Result<OwnedFd> OpenLog(int directory, const std::string& path) {
  TRY(OwnedFd file, OpenRuntimeFile(directory, path, O_RDWR | O_APPEND));
  if (::lseek(file.get(), 0, SEEK_END) > kLongestLog) (void)::ftruncate(file.get(), 0);
  return file;
}

std::string LastLineOf(int log) {
  const off_t size = ::lseek(log, 0, SEEK_END);
  std::string end(kEndOfLog, '\0');
  const ssize_t read = ::pread(log, end.data(), end.size(), std::max<off_t>(0, size - kEndOfLog));
  end.resize(static_cast<size_t>(std::max<ssize_t>(0, read)));
  while (end.ends_with('\n')) end.pop_back();
  return end.substr(end.rfind('\n') + 1);
}

// Waits until the server prints its URL, which it does when it listens.
Result<> AwaitUrl(int output, int log, const PrivateServerOptions& options) {
  pollfd entry{.fd = output, .events = POLLIN, .revents = 0};
  const int ready = ::poll(&entry, 1, static_cast<int>(options.patience.count()));
  char first;
  if (ready == 1 && sys::Read(output, &first, 1) == 1) return {};
  return Fail(ErrorKind::kSystem,
              fmt::format("the private server did not start: {}; its log is {}",
                          ready == 0 ? "it takes too long" : LastLineOf(log), options.directory.log()));
}

// Starts the server as a grandchild in a session of its own, so that neither the end of this program nor a signal from
// the terminal reaches it. Returns when the server listens.
Result<> Start(int directory, const PrivateServerOptions& options) {
  TRY(const OwnedFd log, OpenLog(directory, options.directory.log()));
  TRY_VOID(OpenRuntimeFile(directory, options.directory.first_use(), O_RDWR));
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
  return AwaitUrl(output.read_end.get(), log.get(), options);
}

}  // namespace

bool IsPrivateServerUp(int directory, const RuntimeDir& place) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // The path of the descriptor is short, whatever that of the directory is.
  fmt::format_to_n(address.sun_path, sizeof address.sun_path - 1, "/proc/self/fd/{}/{}", directory,
                   NameOf(place.socket()));
  const OwnedFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  return ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 || errno == EAGAIN;
}

Result<> EnsurePrivateServer(const PrivateServerOptions& options) {
  TRY(const OwnedFd directory, PrepareRuntimeDir(options.directory));
  if (IsPrivateServerUp(directory.get(), options.directory)) return {};
  TRY(const OwnedFd lock, OpenRuntimeFile(directory.get(), options.directory.lock(), O_RDWR));
  TRY_VOID(LockRuntimeFile(lock.get(), options.directory.lock(), kStartsToWaitFor * options.patience));
  if (IsPrivateServerUp(directory.get(), options.directory)) return {};  // another command was faster
  return Start(directory.get(), options);
}

// The file can be removed once, so one process wins, also of several that try at the same moment.
bool TakeFirstUse(const RuntimeDir& place) {
  const auto directory = runtime_dir::OpenRuntimeDir(place);
  return directory && ::unlinkat(directory->get(), std::string(NameOf(place.first_use())).c_str(), 0) == 0;
}

}  // namespace holdfast::cli
