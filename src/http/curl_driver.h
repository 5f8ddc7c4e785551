// A CurlDriver runs libcurl's transfers on the loop: it watches the library's sockets, keeps its timer, and tells the
// owner of a transfer when the transfer has finished. It owns the library's multi handle and with it the idle
// connections, which are closed after `idle_time` without a transfer.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>

#include <curl/curl.h>

#include "base/result.h"
#include "http/curl_library.h"
#include "loop/event_loop.h"

namespace holdfast::http {

class CurlDriver {
 public:
  CurlDriver(loop::EventLoop& loop, const CurlLibrary& library, std::chrono::milliseconds idle_time);
  // Every transfer must have been removed before.
  ~CurlDriver();
  CurlDriver(const CurlDriver&) = delete;
  CurlDriver& operator=(const CurlDriver&) = delete;

  const CurlLibrary& library() const { return library_; }

  // Called with the result code of the library. The callback may only record it, because it runs inside the driver.
  using OnFinished = std::move_only_function<void(CURLcode)>;

  // Adds a transfer, which begins in a later turn of the loop. It must be removed, finished or not, before `easy` is
  // cleaned up.
  Result<> Add(CURL* easy, OnFinished on_finished);
  // Must not be called from inside a callback of the library.
  void Remove(CURL* easy);

 private:
  struct Socket {
    std::unique_ptr<loop::FdWatch> watch;
    int wanted = 0;  // CURL_POLL_IN, CURL_POLL_OUT
    bool read_armed = false, write_armed = false;

    void Arm();
  };

  Result<> OpenMulti();
  void CloseMulti();
  void Watch(int fd, int wanted);
  void OnReady(int fd, int direction);
  void Act(curl_socket_t socket, int events);
  void OnTimeExpired();
  void ReportFinished();

  // The library calls these functions.
  static int OnSocket(CURL* easy, curl_socket_t fd, int what, void* driver, void* socket);
  static int OnTimer(CURLM* multi, long timeout_ms, void* driver);
  static curl_socket_t OnOpenSocket(void* driver, curlsocktype purpose, curl_sockaddr* address);
  static int OnCloseSocket(void* driver, curl_socket_t fd);

  loop::EventLoop& loop_;
  const CurlLibrary library_;
  const std::chrono::milliseconds idle_time_;
  CURLM* multi_ = nullptr;
  std::map<int, Socket> sockets_;
  bool socket_was_removed_ = false;  // since the timer has expired
  std::map<CURL*, OnFinished> transfers_;
  loop::Timer timer_, idle_timer_;
};

}  // namespace holdfast::http
