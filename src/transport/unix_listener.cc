#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sys/descriptor_passing.h"
#include "sys/file_identity.h"
#include "sys/foreign_fd.h"
#include "sys/peer.h"
#include "transport/acceptor.h"
#include "transport/http_front.h"
#include "transport/listener.h"
#include "transport/socket_address.h"
#include "transport/unix_place.h"

namespace holdfast::transport {
namespace {

constexpr mode_t kOwnerOnly = 0600;

OwnedFd MakeSocket() { return OwnedFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)); }

// The probe is non-blocking, so connecting to a server that is too busy to accept fails with EAGAIN; such a server
// counts as one that answers.
bool NobodyAnswers(const SocketAddress& address) {
  const OwnedFd probe = MakeSocket();
  return ::connect(probe.get(), address.get(), address.size) < 0 && errno == ECONNREFUSED;
}

// A server that was killed leaves its socket behind, which is removed here. Anything else at that path is not ours to
// remove.
Result<> ClearPath(const std::string& path, const SocketAddress& address) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) < 0) {
    if (errno == ENOENT) return {};
    return FailErrno("stat", path);
  }
  if (!S_ISSOCK(status.st_mode))
    return Fail(ErrorKind::kSystem, fmt::format("bind {}: the path exists and is not a socket", path));
  if (!NobodyAnswers(address))
    return Fail(ErrorKind::kSystem, fmt::format("bind {}: another server listens there", path));
  if (::unlink(path.c_str()) < 0) return FailErrno("unlink", path);
  return {};
}

// Linux creates the file with the mode of the unbound socket, so the file is never accessible to other users, not even
// for a moment.
Result<OwnedFd> Bind(const std::string& path, const SocketAddress& address) {
  OwnedFd fd = MakeSocket();
  if (!fd.is_open()) return FailErrno("socket", path);
  sys::RefuseDescriptors(fd.get());
  if (::fchmod(fd.get(), kOwnerOnly) < 0) return FailErrno("fchmod", path);
  if (::bind(fd.get(), address.get(), address.size) < 0) {
    return FailErrno("bind", path);
  }
  if (::listen(fd.get(), SOMAXCONN) < 0) return FailErrno("listen", path);
  return fd;
}

// The mode of the socket file already admits only these users, until a user changes that mode.
bool MayConnect(const ucred& credentials) { return credentials.uid == ::geteuid() || credentials.uid == 0; }

// Returns true also for a process that has ended, because it may have been a sandboxed command that left its socket to
// another process. A sandboxed command must not connect: it could have this server start a command without a sandbox.
bool MayBeSandboxed(int socket) {
  const auto place = sys::NamespaceOfUnixPeer(socket);
  return !place || *place == sys::PidNamespace::kBelow;
}

class UnixListener final : public Listener {
 public:
  UnixListener(loop::EventLoop& loop, OwnedFd fd, std::string path, const Limits& limits, HttpRoutes routes,
               OnConnection on_connection)
      : path_(std::move(path)),
        front_(std::in_place, loop, HttpFront::Language::kHttpOrLines, limits,
               HttpFrontOptions{.routes = std::move(routes)}, std::move(on_connection)),
        acceptor_(std::in_place, loop, std::move(fd), [this](OwnedFd socket) { Accept(std::move(socket)); }) {
    (void)::lstat(path_.c_str(), &bound_);  // if this fails, the file is gone and need not be removed later
  }
  ~UnixListener() override { UnixListener::Stop(); }

  std::string url() const override { return "unix://" + path_; }
  uint16_t port() const override { return 0; }

  void Stop() override {
    if (!acceptor_) return;
    RemoveFile();
    acceptor_.reset();
    front_.reset();
  }

 private:
  // A client that is refused may have sent descriptors already, whose close could block.
  void Accept(OwnedFd socket) {
    const auto credentials = sys::CredentialsOfUnixPeer(socket.get());
    if (!credentials || !MayConnect(*credentials) || MayBeSandboxed(socket.get())) {
      return sys::ForeignFd(std::move(socket)).Reset();
    }
    front_->Serve(std::move(socket), fmt::format("unix socket, pid {}", credentials->pid));
  }

  // The file is removed only if it is still the one that this listener made: another server may have put its own socket
  // there since.
  void RemoveFile() const {
    struct stat present{};
    if (::lstat(path_.c_str(), &present) < 0) return;
    if (sys::IsSameFile(present, bound_)) ::unlink(path_.c_str());
  }

  const std::string path_;
  struct stat bound_{};
  std::optional<HttpFront> front_;
  std::optional<Acceptor> acceptor_;
};

}  // namespace

Result<std::unique_ptr<Listener>> ListenUnix(loop::EventLoop& loop, const UnixUrl& url, const Limits& limits,
                                             HttpRoutes routes, OnConnection on_connection) {
  TRY(const UnixPlace place, UnixPlace::Find(url.path));
  TRY_VOID(ClearPath(url.path, place.address()));
  TRY(OwnedFd fd, Bind(url.path, place.address()));
  return std::make_unique<UnixListener>(loop, std::move(fd), url.path, limits, std::move(routes),
                                        std::move(on_connection));
}

}  // namespace holdfast::transport
