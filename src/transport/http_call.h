// An HttpCall is a request to a listener that the listener's owner answers: at once or later, with a response or by an
// upgrade to a WebSocket. A call owns its socket. The peer may hang up at any time.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "transport/connection_slots.h"
#include "transport/web_socket_connection.h"

namespace holdfast::transport {

inline constexpr size_t kMaxHttpBodyBytes = 64u << 10;  // a longer body is answered with 413

struct HttpMessage {
  std::string method = {};
  std::string path = {};   // as it was sent: percent-encoded, without the query
  std::string query = {};  // without the question mark
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};

  // Returns the values of all headers of that name, which is compared without regard to case.
  std::vector<std::string_view> HeaderValues(std::string_view name) const;
};

struct HttpResponse {
  unsigned status = 200;
  std::string body = {};
  std::string content_type = "text/plain; charset=utf-8";
  std::vector<std::pair<std::string, std::string>> headers = {};
  Slot slot = {};  // of the owner of the call; given back when the response is sent and the socket is closed
};

class HttpCall {
 public:
  virtual ~HttpCall() = default;  // a call that was not answered is closed

  virtual const HttpMessage& request() const = 0;
  virtual std::string_view peer() const = 0;
  virtual int socket() const = 0;  // borrowed

  // Returns whether the request is a valid one for an upgrade to a WebSocket.
  virtual bool asks_for_web_socket() const = 0;

  // Sends the response and closes the connection.
  virtual void Answer(HttpResponse response) = 0;

  // Agrees to the upgrade and gives the socket away. The answer to the request is sent by AcceptWebSocket, or by the
  // caller's own WebSocket.
  virtual UpgradedSocket TakeUpgrade() = 0;

  // Whether the peer has hung up.
  virtual bool gone() const = 0;
};

}  // namespace holdfast::transport
