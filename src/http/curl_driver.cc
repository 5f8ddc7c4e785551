#include "http/curl_driver.h"

#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "base/check.h"

namespace holdfast::http {
namespace {

constexpr long kMaxIdleConnections = 16;  // beyond this number a connection is closed when its transfer ends

}  // namespace

CurlDriver::CurlDriver(loop::EventLoop& loop, const CurlLibrary& library, std::chrono::milliseconds idle_time)
    : loop_(loop),
      library_(library),
      idle_time_(idle_time),
      timer_(loop, [this] { OnTimeExpired(); }),
      idle_timer_(loop, [this] { CloseMulti(); }) {}

CurlDriver::~CurlDriver() {
  CHECK(transfers_.empty());
  CloseMulti();
}

Result<> CurlDriver::Add(CURL* easy, OnFinished on_finished) {
  TRY_VOID(OpenMulti());
  // The driver opens and closes the library's sockets itself, so that they are close-on-exec from birth and no longer
  // watched when their number becomes free for another descriptor.
  library_.easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, &OnOpenSocket);
  library_.easy_setopt(easy, CURLOPT_OPENSOCKETDATA, this);
  library_.easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, &OnCloseSocket);
  library_.easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, this);
  const CURLMcode code = library_.multi_add_handle(multi_, easy);
  if (code != CURLM_OK) return Fail(ErrorKind::kSystem, library_.multi_strerror(code));
  transfers_.emplace(easy, std::move(on_finished));
  idle_timer_.Stop();
  return {};
}

void CurlDriver::Remove(CURL* easy) {
  if (transfers_.erase(easy) == 0) return;
  CHECK(library_.multi_remove_handle(multi_, easy) == CURLM_OK);
  if (transfers_.empty()) idle_timer_.Start(idle_time_);
}

Result<> CurlDriver::OpenMulti() {
  if (multi_ != nullptr) return {};
  multi_ = library_.multi_init();
  if (multi_ == nullptr) return Fail(ErrorKind::kSystem, "curl_multi_init: no memory or descriptors");
  library_.multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &OnSocket);
  library_.multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  library_.multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &OnTimer);
  library_.multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  library_.multi_setopt(multi_, CURLMOPT_MAXCONNECTS, kMaxIdleConnections);
  return {};
}

void CurlDriver::CloseMulti() {
  if (multi_ == nullptr) return;
  library_.multi_cleanup(std::exchange(multi_, nullptr));
  timer_.Stop();
  sockets_.clear();
}

// A failure of the library here is the failure of a transfer, which ReportFinished reports.
void CurlDriver::Act(curl_socket_t socket, int events) {
  int running = 0;
  (void)library_.multi_socket_action(multi_, socket, events, &running);
  ReportFinished();
}

// A server may have several addresses. When one of them does not answer in its share of the time, version 7.88 of the
// library closes the socket, but dials the next address only when the transfer is acted on again, and for that it sets
// its timer to the end of the whole time. So the driver lets it act on all transfers at once.
void CurlDriver::OnTimeExpired() {
  int running = 0;
  socket_was_removed_ = false;
  (void)library_.multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
  if (socket_was_removed_) (void)library_.multi_socket_all(multi_, &running);
  ReportFinished();
}

void CurlDriver::ReportFinished() {
  int left = 0;
  while (const CURLMsg* message = library_.multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const auto found = transfers_.find(message->easy_handle);
    if (found != transfers_.end()) found->second(message->data.result);
  }
}

void CurlDriver::Socket::Arm() {
  if ((wanted & CURL_POLL_IN) != 0 && !std::exchange(read_armed, true)) watch->WatchReadable();
  if ((wanted & CURL_POLL_OUT) != 0 && !std::exchange(write_armed, true)) watch->WatchWritable();
}

void CurlDriver::Watch(int fd, int wanted) {
  Socket& socket = sockets_[fd];
  if (!socket.watch) {
    socket.watch = std::make_unique<loop::FdWatch>(
        loop_, fd, [this, fd] { OnReady(fd, CURL_POLL_IN); }, [this, fd] { OnReady(fd, CURL_POLL_OUT); });
  }
  socket.wanted = wanted;
  socket.Arm();
}

// The library may close the socket during Act, and even open another one with the same number.
void CurlDriver::OnReady(int fd, int direction) {
  Socket& socket = sockets_.at(fd);
  (direction == CURL_POLL_IN ? socket.read_armed : socket.write_armed) = false;
  if ((socket.wanted & direction) == 0) return;
  Act(fd, direction == CURL_POLL_IN ? CURL_CSELECT_IN : CURL_CSELECT_OUT);
  if (const auto found = sockets_.find(fd); found != sockets_.end()) found->second.Arm();
}

int CurlDriver::OnSocket(CURL*, curl_socket_t fd, int what, void* driver, void*) {
  auto* self = static_cast<CurlDriver*>(driver);
  if (what == CURL_POLL_REMOVE) {
    self->sockets_.erase(fd);
    self->socket_was_removed_ = true;
  } else {
    self->Watch(fd, what);
  }
  return 0;
}

int CurlDriver::OnTimer(CURLM*, long timeout_ms, void* driver) {
  loop::Timer& timer = static_cast<CurlDriver*>(driver)->timer_;
  if (timeout_ms < 0) {
    timer.Stop();
  } else {
    timer.Start(std::chrono::milliseconds(timeout_ms));
  }
  return 0;
}

curl_socket_t CurlDriver::OnOpenSocket(void*, curlsocktype, curl_sockaddr* address) {
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

int CurlDriver::OnCloseSocket(void* driver, curl_socket_t fd) {
  static_cast<CurlDriver*>(driver)->sockets_.erase(fd);
  return ::close(fd);
}

}  // namespace holdfast::http
