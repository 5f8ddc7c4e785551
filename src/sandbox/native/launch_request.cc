#include "sandbox/native/launch_request.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "sys/descriptor_passing.h"

namespace holdfast::sandbox {
namespace {

std::unexpected<Error> Wrong(const char* what) {
  return Fail(ErrorKind::kInvalidRequest, std::string("launch request: ") + what);
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

Result<std::optional<ReceivedLaunch>> ReceivedLaunch::Receive(int socket) {
  std::array<char, sizeof(LaunchRequest) + 1> bytes;  // one more, to notice a longer message
  auto received = sys::ReceiveWithDescriptors(socket, bytes);
  if (!received && received.error().kind == ErrorKind::kLimit) return Wrong("too many descriptors");
  if (!received) return std::unexpected(std::move(received).error());
  if (received->size == 0) return std::nullopt;
  if (received->size != sizeof(LaunchRequest)) return Wrong("another length");
  LaunchRequest request;
  std::memcpy(&request, bytes.data(), sizeof request);
  ReceivedLaunch launch(request, std::move(received->fds));
  TRY_VOID(launch.Check());
  return launch;
}

Result<> ReceivedLaunch::Check() const {
  if (request_.has_terminal > 1 || request_.has_exec_supervisor > 1) return Wrong("a flag is neither 0 nor 1");
  const auto usual = static_cast<size_t>(LaunchDescriptor::kExecSupervisor);
  if (fds_.size() != usual + request_.has_exec_supervisor) return Wrong("another number of descriptors");
  if (!IsKind(Get(LaunchDescriptor::kOrders), S_IFREG)) return Wrong("the orders are not in a file");
  const std::array streams = {LaunchDescriptor::kStdin, LaunchDescriptor::kStdout, LaunchDescriptor::kStderr};
  if (!std::ranges::all_of(streams, [&](auto stream) { return IsStream(Get(stream)); })) return Wrong("no stream");
  if (!IsUnixSocket(Get(LaunchDescriptor::kControl), SOCK_SEQPACKET)) return Wrong("no control socket");
  if (!IsKind(Get(LaunchDescriptor::kReport), S_IFIFO)) return Wrong("no pipe for the report");
  if (terminal() >= 0 && ::isatty(terminal()) != 1) return Wrong("no terminal");
  if (exec_supervisor() && SocketOption(*exec_supervisor(), SO_DOMAIN) != AF_UNIX) return Wrong("no supervisor");
  return {};
}

}  // namespace holdfast::sandbox
