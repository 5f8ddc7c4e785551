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

Result<> ReceivedEntry::Check() const {
  const auto usual = static_cast<size_t>(EntryFd::kExecSupervisor);
  if (fds_.size() != usual + (entry_.is_supervised ? 1 : 0)) return Wrong("another number of descriptors");
  const std::array streams = {EntryFd::kStdin, EntryFd::kStdout, EntryFd::kStderr};
  if (!std::ranges::all_of(streams, [&](auto stream) { return IsStream(Get(stream)); })) return Wrong("no stream");
  if (!IsUnixSocket(Get(EntryFd::kControl), SOCK_SEQPACKET)) return Wrong("no control socket");
  if (!IsKind(Get(EntryFd::kReport), S_IFIFO)) return Wrong("no pipe for the report");
  if (terminal() >= 0 && ::isatty(terminal()) != 1) return Wrong("no terminal");
  if (exec_supervisor() && SocketOption(*exec_supervisor(), SO_DOMAIN) != AF_UNIX) return Wrong("no supervisor");
  return {};
}

}  // namespace holdfast::sandbox
