#include "transport/plain_stream.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace holdfast::transport {
namespace {

bool IsSocket(int fd) {
  struct stat status{};
  return ::fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode);
}

}  // namespace

PlainStream::PlainStream(OwnedFd fd) : PlainStream(fd.get()) { owned_ = std::move(fd); }

std::unique_ptr<PlainStream> PlainStream::Borrow(int fd) { return std::unique_ptr<PlainStream>(new PlainStream(fd)); }

PlainStream::PlainStream(int fd) : fd_(fd), is_socket_(IsSocket(fd)) {}

ssize_t PlainStream::Read(std::span<char> buffer) {
  ssize_t count;
  do {
    count = ::read(fd_, buffer.data(), buffer.size());
  } while (count < 0 && errno == EINTR);
  return count;
}

// MSG_NOSIGNAL avoids a SIGPIPE in programs that embed this code and do not ignore that signal. Pipes and terminals
// have no such flag.
ssize_t PlainStream::Write(std::span<const iovec> vectors) {
  ssize_t written;
  do {
    if (is_socket_) {
      msghdr message{};
      message.msg_iov = const_cast<iovec*>(vectors.data());  // sendmsg only reads the vectors
      message.msg_iovlen = vectors.size();
      written = ::sendmsg(fd_, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    } else {
      written = ::writev(fd_, vectors.data(), static_cast<int>(vectors.size()));
    }
  } while (written < 0 && errno == EINTR);
  return written;
}

void PlainStream::EndWriting() { ::shutdown(fd_, SHUT_WR); }

void PlainStream::Close() {
  owned_.Reset();
  fd_ = -1;
}

}  // namespace holdfast::transport
