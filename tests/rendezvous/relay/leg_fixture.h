// Legs and their clients in tests, over TCP with or without TLS. All of them run on the thread of the test.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "rendezvous/relay/leg.h"
#include "support/web_socket_client.h"
#include "transport/call_server.h"

namespace holdfast::rendezvous {

// A client, and the server's end of its connection.
struct Ends {
  transport::CallClient client;
  std::shared_ptr<Leg> leg;
};

inline std::string Masked(support::Frame frame) {
  frame.masked = true;
  return support::BuildFrame(frame);
}

inline std::string Unmasked(support::Frame frame) {
  frame.masked = false;
  return support::BuildFrame(frame);
}

inline support::Frame Close(uint16_t code) {
  return {.opcode = support::Opcode::kClose, .payload = support::ClosePayload(code)};
}

class LegFixture {
 public:
  explicit LegFixture(transport::Security security) : server(security) {}

  // Connects a client. The text is sent right behind its request.
  Ends Connect(const LegLimits& limits, std::function<void()> on_ended, std::string_view early = "") {
    auto client = server.Call(support::WebSocketClient::UpgradeRequest("/x") + std::string(early));
    transport::UpgradedSocket socket = server.calls.back()->TakeUpgrade();
    server.calls.clear();
    return {std::move(client), Leg::Accept(server.loop, std::move(socket), limits, std::move(on_ended))};
  }

  // Returns whether a client gets exactly these bytes after the answer to its upgrade.
  bool Gets(transport::CallClient& client, std::string_view bytes) {
    return support::RunUntil(server.loop, [&] { return Frames(client).size() >= bytes.size() || client.ended(); }) &&
           Frames(client) == bytes;
  }

  bool Ends(transport::CallClient& client) {
    return support::RunUntil(server.loop, [&] { return client.ended(); });
  }

  // Returns what a client has got after the answer to its upgrade.
  static std::string_view Frames(transport::CallClient& client) {
    const std::string_view all = client.received();
    const size_t end = all.find("\r\n\r\n");
    return end == std::string_view::npos ? "" : all.substr(end + 4);
  }

  transport::CallServer server;
};

}  // namespace holdfast::rendezvous
