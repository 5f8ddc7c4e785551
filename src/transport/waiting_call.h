// A WaitingCall is the call of an HttpFront. While it waits for its answer, it reads what the peer sends, because the
// end of the stream comes behind that.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "loop/event_loop.h"
#include "transport/http_call.h"
#include "transport/http_farewells.h"

namespace holdfast::transport {

class WaitingCall final : public HttpCall {
 public:
  // The key of the socket is empty if the request does not ask for a WebSocket. If the farewells are gone by then, the
  // answer is sent as far as the socket accepts it at once.
  WaitingCall(loop::EventLoop& loop, HttpMessage request, UpgradedSocket socket,
              std::weak_ptr<HttpFarewells> farewells);

  const HttpMessage& request() const override { return request_; }
  std::string_view peer() const override { return peer_; }
  int socket() const override { return socket_.stream ? socket_.stream->fd() : -1; }
  bool asks_for_web_socket() const override { return asks_for_web_socket_; }
  void Answer(HttpResponse response) override;
  UpgradedSocket TakeUpgrade() override;
  bool gone() const override { return gone_; }

 private:
  void OnReady();
  void Wait();
  void OnGone();

  const HttpMessage request_;
  const bool asks_for_web_socket_;
  UpgradedSocket socket_;  // its stream is null once the call is answered
  const std::weak_ptr<HttpFarewells> farewells_;
  const std::string peer_;
  // Removed before the descriptor is passed on, because epoll holds each descriptor only once.
  std::optional<loop::FdWatch> watch_;
  bool read_armed_ = false;
  bool gone_ = false;
};

}  // namespace holdfast::transport
