// Runs libcurl's transfers on the loop: its sockets are watched, its timer kept, and finished transfers are told. Owns
// the library's multi handle and with it the idle connections, which are closed when nothing was asked for a while.
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
  // Every transfer has been removed.
  ~CurlDriver();
  CurlDriver(const CurlDriver&) = delete;
  CurlDriver& operator=(const CurlDriver&) = delete;

  const CurlLibrary& library() const { return library_; }

  // Called with the library's verdict. It may only take note: the driver is at work.
  using OnFinished = std::move_only_function<void(CURLcode)>;

  // The transfer begins in a later turn of the loop. It must be removed, finished or not, before `easy` is cleaned up.
  Result<> Add(CURL* easy, OnFinished on_finished);
  // Not from inside a callback of the library.
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

  // What the library calls.
  static int OnSocket(CURL* easy, curl_socket_t fd, int what, void* driver, void* socket);
  static int OnTimer(CURLM* multi, long timeout_ms, void* driver);
  static curl_socket_t OnOpenSocket(void* driver, curlsocktype purpose, curl_sockaddr* address);
  static int OnCloseSocket(void* driver, curl_socket_t fd);

  loop::EventLoop& loop_;
  const CurlLibrary library_;
  const std::chrono::milliseconds idle_time_;
  CURLM* multi_ = nullptr;
  std::map<int, Socket> sockets_;
  std::map<CURL*, OnFinished> transfers_;
  loop::Timer timer_, idle_timer_;
};

}  // namespace holdfast::http
