// A scripted HTTP/1.1 server on a port of its own, with blocking sockets and a thread for each connection. The script
// gets each request as a whole, and decides which bytes are sent back, well formed or not.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/owned_fd.h"

namespace holdfast::support {

struct HttpArrival {
  std::string method, target, body;
  std::vector<std::pair<std::string, std::string>> headers = {};  // names in lower case

  // Returns all values of that name, joined by "|"; nothing if there is none.
  std::optional<std::string> Header(std::string_view name) const;
};

// The connection that a request came by. It stays open after the script has returned, unless the script closes it.
class HttpPeer {
 public:
  explicit HttpPeer(OwnedFd fd) : fd_(std::move(fd)) {}

  // Blocks while the client reads nothing. Returns false when the client is gone.
  bool Send(std::string_view bytes);
  // Sends a response with a Content-Length. Each of `more_headers` ends in \r\n.
  bool Answer(int status, std::string_view body = "", std::string_view more_headers = "");
  // Waits until the client closes its end, or the server is destroyed.
  void AwaitHangUp() const;
  // Ends the stream to the client. The descriptor stays open until the thread of the connection ends.
  void Close() const;
  int fd() const { return fd_.get(); }

  // Returns the next request; nothing when the client is gone, or has sent something else.
  std::optional<HttpArrival> Receive();

 private:
  bool Fill();

  OwnedFd fd_;
  std::string buffer_;
};

class HttpServer {
 public:
  // A script is called on the thread of the connection, for one request after the other.
  using Script = std::function<void(const HttpArrival& arrival, HttpPeer& peer)>;

  explicit HttpServer(Script script);
  // Ends all connections. For a script that is still sending, the client is gone.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  uint16_t port() const { return port_; }
  std::string Url(std::string_view target = "/") const;  // http://127.0.0.1:port/...
  std::string Authority() const;                         // 127.0.0.1:port

  std::vector<HttpArrival> arrivals() const;
  size_t connections() const { return connections_; }  // so far
  size_t open_connections() const { return open_connections_; }

 private:
  void Accept();
  void Serve(OwnedFd connection);

  const Script script_;
  OwnedFd listening_;
  uint16_t port_ = 0;
  std::atomic<size_t> connections_ = 0, open_connections_ = 0;
  mutable std::mutex mutex_;  // guards the members below
  std::vector<HttpArrival> arrivals_;
  std::list<std::thread> threads_;
  std::vector<int> sockets_;  // the connections that are served; borrowed
  bool closing_ = false;
  std::thread acceptor_;
};

// Answers 200 with the request as text: request line, headers and body, as they came.
void EchoRequest(const HttpArrival& arrival, HttpPeer& peer);

}  // namespace holdfast::support
