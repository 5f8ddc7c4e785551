#include "sandbox/native/received_entry.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/record_reader.h"
#include "sys/descriptor_passing.h"
#include "sys/read_to_end.h"

namespace holdfast::sandbox {
namespace {

std::unexpected<Error> Wrong(const char* what) {
  return Fail(ErrorKind::kInvalidRequest, std::string("entry: ") + what);
}

bool IsKind(int fd, mode_t type) {
  struct stat status;
  return ::fstat(fd, &status) == 0 && (status.st_mode & S_IFMT) == type;
}

// Returns -1 for a descriptor that is no socket.
int SocketOption(int fd, int option) {
  int value = -1;
  socklen_t size = sizeof value;
  return ::getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

bool IsUnixSocket(int fd, int type) {
  return SocketOption(fd, SO_DOMAIN) == AF_UNIX && SocketOption(fd, SO_TYPE) == type;
}

// The streams may be anything that is not a directory, because the inner stage checks them (confine/confinement.h).
bool IsStream(int fd) { return ::fcntl(fd, F_GETFD) >= 0 && !IsKind(fd, S_IFDIR); }

}  // namespace

Result<std::optional<ReceivedEntry>> ReceivedEntry::Receive(int socket) {
  std::array<char, 2> bytes;  // one more, to notice a longer message
  auto received = sys::ReceiveWithDescriptors(socket, bytes);
  if (!received && received.error().kind == ErrorKind::kLimit) return Wrong("too many descriptors");
  if (!received) return std::unexpected(std::move(received).error());
  if (received->size == 0) return std::nullopt;
  if (received->size != 1) return Wrong("another length");
  ReceivedEntry entry(std::move(received->fds));
  TRY_VOID(entry.Read());
  TRY_VOID(entry.Check());
  return entry;
}

Result<> ReceivedEntry::Read() {
  if (fds_.empty() || !IsKind(Get(EntryFd::kEntry), S_IFREG)) return Wrong("it is not in a file");
  const auto bytes = sys::ReadToEnd(Get(EntryFd::kEntry), kMaxRecordBytes, "entry");
  auto entry = bytes ? DecodeRecord<JailEntry>(*bytes) : std::unexpected(bytes.error());
  if (!entry) return Wrong(entry.error().message.c_str());
  entry_ = *std::move(entry);
  return {};
}

int ReceivedEntry::Get(EntryFd which) const {
  auto at = static_cast<size_t>(which);
  const bool is_supervised = command() != nullptr && command()->is_supervised;
  if (which == EntryFd::kExecSupervisor && !is_supervised) return -1;
  if (which == EntryFd::kKept && (command() == nullptr || !command()->kept_variable)) return -1;
  if (which == EntryFd::kKept && !is_supervised) --at;
  return fds_[at].get();
}

Result<> ReceivedEntry::Check() const {
  auto count = static_cast<size_t>(EntryFd::kExecSupervisor);
  if (command() != nullptr) count += (command()->is_supervised ? 1 : 0) + (command()->kept_variable ? 1 : 0);
  if (fds_.size() != count) return Wrong("another number of descriptors");
  const std::array streams = {EntryFd::kStdin, EntryFd::kStdout, EntryFd::kStderr};
  if (!std::ranges::all_of(streams, [&](auto stream) { return IsStream(Get(stream)); })) return Wrong("no stream");
  if (!IsUnixSocket(Get(EntryFd::kControl), SOCK_SEQPACKET)) return Wrong("no control socket");
  if (terminal() >= 0 && ::isatty(terminal()) != 1) return Wrong("no terminal");
  const int supervisor = Get(EntryFd::kExecSupervisor);
  if (supervisor >= 0 && SocketOption(supervisor, SO_DOMAIN) != AF_UNIX) return Wrong("no supervisor");
  if (command() == nullptr && !IsUnixSocket(Get(EntryFd::kStdin), SOCK_STREAM)) return Wrong("no socket for requests");
  return {};
}

}  // namespace holdfast::sandbox
