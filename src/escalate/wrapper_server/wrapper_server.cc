#include "escalate/wrapper_server/wrapper_server.h"

#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <list>
#include <utility>

#include "escalate/messages/messages.h"
#include "escalate/wrapper_server/wrapper_session.h"
#include "sys/descriptor_passing.h"
#include "sys/foreign_fd.h"
#include "sys/socket_pair.h"

namespace holdfast::escalate {
namespace {

// With this many sessions, further wrappers wait.
constexpr size_t kMaxSessions = 256;

constexpr std::chrono::milliseconds kRoomInterval(50);

int OptionOf(int socket, int option) {
  int value = -1;
  socklen_t size = sizeof value;
  return ::getsockopt(socket, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

// A client can shut the socket down, for itself and all others that it shares the socket with.
bool IsShutDown(int socket) {
  pollfd state{.fd = socket, .events = POLLRDHUP, .revents = 0};
  return ::poll(&state, 1, 0) > 0;
}

// A client may send any descriptor. The loop could not wait for events of a regular file, for example, so that only
// stream sockets are accepted.
bool IsStreamSocket(int fd) { return OptionOf(fd, SO_DOMAIN) == AF_UNIX && OptionOf(fd, SO_TYPE) == SOCK_STREAM; }

class Server final : public WrapperServer {
 public:
  Server(loop::EventLoop& loop, loop::WorkerPool& workers, Approver& approver, WrapperServerOptions options,
         sys::SocketPair sockets)
      : options_(std::move(options)),
        surroundings_{.loop = loop, .workers = workers, .approver = approver, .options = options_},
        socket_(std::move(sockets.ours)),
        client_socket_(std::make_shared<const OwnedFd>(std::move(sockets.theirs))),
        watch_(loop, socket_.get(), [this] { OnReadable(); }),
        room_timer_(loop, [this] { Listen(); }) {
    Listen();
  }

  std::shared_ptr<const OwnedFd> client_socket() const override { return client_socket_; }
  size_t sessions() const override { return sessions_.size(); }

 private:
  void OnReadable() {
    listening_ = false;
    if (!sys::HasRoomForForeignFds()) return room_timer_.Start(kRoomInterval);
    char byte[2];
    sys::Arrival arrival = sys::TryReceive(socket_.get(), byte);
    if (arrival.fds.size() == 1 && IsStreamSocket(arrival.fds[0].get())) Begin(std::move(arrival.fds[0]));
    if (arrival.size == 0 && IsShutDown(socket_.get())) return;
    Listen();
  }

  void Begin(sys::ForeignFd socket) {
    const auto place = sessions_.emplace(sessions_.end());
    *place = std::make_unique<WrapperSession>(surroundings_, std::move(socket), [this, place] {
      sessions_.erase(place);
      Listen();
    });
  }

  void Listen() {
    if (sessions_.size() >= kMaxSessions || std::exchange(listening_, true)) return;
    watch_.WatchReadable();
  }

  WrapperServerOptions options_;
  SessionSurroundings surroundings_;
  sys::ForeignFd socket_;  // closes what clients have sent and the server has not received
  std::shared_ptr<const OwnedFd> client_socket_;
  bool listening_ = false;
  loop::FdWatch watch_;
  loop::Timer room_timer_;  // runs while the server listens only later, for want of room
  std::list<std::unique_ptr<WrapperSession>> sessions_;
};

}  // namespace

// Published servers make a pair of datagram sockets. A process in the sandbox could send from such a socket to any
// other one that has a name; from a packet socket it reaches only this server. For wrappers there is no difference.
Result<std::unique_ptr<WrapperServer>> WrapperServer::Create(loop::EventLoop& loop, loop::WorkerPool& workers,
                                                             Approver& approver, WrapperServerOptions options) {
  TRY(sys::SocketPair sockets, sys::MakeSocketPair(sys::SocketKind::kPacket));
  return std::make_unique<Server>(loop, workers, approver, std::move(options), std::move(sockets));
}

std::vector<std::pair<std::string, std::string>> WrapperVariables(const std::string& wrapper_path) {
  return {{std::string(kBashVariable), wrapper_path}, {std::string(kZshVariable), wrapper_path}};
}

}  // namespace holdfast::escalate
