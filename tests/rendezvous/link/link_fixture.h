// Nodes that dial each other over real sockets, with buses of the test, all on the loop of the test.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rendezvous/fake_bus.h"
#include "rendezvous/link/link_dialler.h"
#include "rendezvous/link/link_door.h"
#include "rendezvous/pipe_user.h"
#include "rendezvous/route.h"
#include "support/loop_runner.h"
#include "support/test_certificate.h"
#include "transport/http_call.h"
#include "transport/listener.h"
#include "transport/security.h"

namespace holdfast::rendezvous {

// A listener with its URL.
class TestListener {
 public:
  TestListener(loop::EventLoop& loop, transport::Security security, transport::OnCall on_call) {
    transport::HttpFrontOptions options{.routes = {}, .on_call = std::move(on_call)};
    if (security == transport::Security::kTls) {
      certificate_.emplace();
      options.tls = *transport::TlsContext::ForServer(certificate_->certificate_file(), certificate_->key_file());
    }
    listener_ = *transport::ListenWebSocket(loop, {.ip = "127.0.0.1"}, {}, std::move(options), [](auto) {});
  }

  std::string url() const { return "http" + listener_->url().substr(2); }
  std::string address() const { return url().substr(url().find("//") + 2); }
  std::string certificate_file() const { return certificate_->certificate_file(); }

 private:
  std::optional<support::TestCertificate> certificate_;  // nobody trusts it
  std::unique_ptr<transport::Listener> listener_;
};

class LinkedNode {
 public:
  explicit LinkedNode(loop::EventLoop& loop, const std::string& name,
                      transport::Security security = transport::Security::kPlain)
      : listener(loop, security,
                 [this](std::unique_ptr<transport::HttpCall> call) {
                   const auto destination = DestinationOf(call->request());
                   ++calls;
                   if (!destination) return call->Answer({.status = 404});
                   const std::string& query = call->request().query;
                   door->Open(call->TakeUpgrade(), {.watch = QueryValue(query, "watch").value_or(""),
                                                    .nonce = QueryValue(query, "nonce").value_or(""),
                                                    .executor = destination->id});
                 }),
        door(std::in_place, loop, bus,
             [this](const std::string& id, std::shared_ptr<Pipe> client) {
               asked.push_back(id);
               if (waiting == 0) return false;
               --waiting;
               joined.push_back(std::make_unique<PipeUser>(std::move(client)));
               return true;
             }),
        dialler(std::in_place, loop, bus, PlainLinks::kOnThisMachine) {
    bus.own_place = {.name = name, .url = listener.url()};
  }

  TestListener listener;
  FakeBus bus;
  int calls = 0;
  size_t waiting = 1;              // connections of any executor
  std::vector<std::string> asked;  // the ids for which connections were wanted
  std::vector<std::unique_ptr<PipeUser>> joined;
  std::optional<LinkDoor> door;
  std::optional<LinkDialler> dialler;
};

class LinkFixture : public testing::Test {
 protected:
  using Joined = std::expected<std::shared_ptr<Pipe>, NotElsewhere>;

  bool RunUntil(const std::function<bool()>& done) { return support::RunUntil(loop, done); }

  // Lets the bus of a node say where an executor is.
  static void Announce(LinkedNode& to, const NodePlace& place, int64_t since_ms = 1,
                       const std::string& id = "build-1") {
    to.bus.elsewhere.push_back(
        {.record = {.id = id, .name = "", .since_ms = since_ms, .waiting = 1, .sessions = 0}, .node = place});
  }
  Joined Join(LinkedNode& from, const std::string& id = "build-1") { return Await(loop, from.dialler->Join(id)); }
  // The first attempts may fail.
  std::shared_ptr<Pipe> JoinAtLast(LinkedNode& from) {
    Joined joined = std::unexpected(NotElsewhere::kUnknown);
    EXPECT_TRUE(RunUntil([&] { return (joined = Join(from)).has_value(); }));
    return joined.value();
  }

  loop::EventLoop loop;
};

}  // namespace holdfast::rendezvous
