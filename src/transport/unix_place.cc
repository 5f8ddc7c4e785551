#include "transport/unix_place.h"

#include <fcntl.h>

#include <utility>

#include <fmt/format.h>

#include "base/paths.h"

namespace holdfast::transport {
namespace {

// The name of the socket stands behind "/proc/self/fd/2147483647/".
constexpr size_t kMaxNameBytes = 80;

}  // namespace

Result<> CheckUnixPath(std::string_view path) {
  if (path.size() <= MaxUnixPathBytes() || NameOf(path).size() <= kMaxNameBytes) return {};
  return Fail(ErrorKind::kInvalidParams,
              fmt::format("the socket path is longer than {} bytes, and the name at its end longer than {}",
                          MaxUnixPathBytes(), kMaxNameBytes));
}

Result<UnixPlace> UnixPlace::Find(const std::string& path) {
  if (path.size() <= MaxUnixPathBytes()) return UnixPlace(OwnedFd(), UnixAddress(path));
  TRY_VOID(CheckUnixPath(path));
  const std::string above(ParentOf(path));
  OwnedFd directory(::open(above.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory.is_open()) return FailErrno("open", above);
  const SocketAddress address = UnixAddress(fmt::format("/proc/self/fd/{}/{}", directory.get(), NameOf(path)));
  return UnixPlace(std::move(directory), address);
}

}  // namespace holdfast::transport
