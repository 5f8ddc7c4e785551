// Strangers that pretend to be a node, and machines on the way between two nodes.
#include <fcntl.h>

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/link/link_fixture.h"
#include "support/test_socket.h"
#include "support/web_socket_client.h"
#include "transport/call_server.h"
#include "transport/dial.h"
#include "transport/web_socket_accept.h"

namespace holdfast::rendezvous {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using transport::Security;

// A dialler of the test, which says what it likes.
class Stranger {
 public:
  Stranger(loop::EventLoop& loop, const LinkedNode& node, const std::string& executor = "build-1",
           const std::string& watch = "w")
      : loop_(loop), client_(Connect(node)) {
    client_.Send(support::WebSocketClient::UpgradeRequest("/links" + (executor.empty() ? "" : "/" + executor) +
                                                          "?watch=" + watch + "&nonce=mine"));
    terms = {.node = node.bus.own_place.name,
             .url = node.bus.own_place.url,
             .watch = watch,
             .executor = executor,
             .dialler_nonce = "mine",
             .acceptor_nonce = {},
             .channel_binding = {}};
  }

  // Waits for the proof of the node. Returns whether it is one of these terms.
  bool IsAnswered(std::string_view key) {
    const size_t wanted = kLinkNonceBytes + kLinkProofBytes;
    if (!support::RunUntil(loop_, [&] { return Rest().size() >= wanted || client_.ended(); })) return false;
    terms.acceptor_nonce = Rest().substr(0, kLinkNonceBytes);
    return IsLinkProof(Rest().substr(kLinkNonceBytes, kLinkProofBytes), LinkRole::kAcceptor, terms, key);
  }
  void Send(std::string_view bytes) { client_.Send(bytes); }
  std::string Proof(std::string_view key) const { return LinkProof(LinkRole::kDialler, terms, key); }
  bool ended() { return client_.ended(); }

  // Returns what the node says after its proof, when that is something or the end of the connection.
  std::string Verdict() {
    const size_t before = kLinkNonceBytes + kLinkProofBytes;
    EXPECT_TRUE(support::RunUntil(loop_, [&] { return Rest().size() > before || client_.ended(); }));
    return Rest().substr(std::min(before, Rest().size()));
  }

  LinkTerms terms;

 private:
  static transport::CallClient Connect(const LinkedNode& node) {
    const auto socket = support::TestSocket::Connect("ws://" + node.listener.address());
    OwnedFd fd(::fcntl(socket.fd(), F_DUPFD_CLOEXEC, 0));
    EXPECT_EQ(::fcntl(fd.get(), F_SETFL, O_NONBLOCK), 0);
    return transport::CallClient(std::make_unique<transport::PlainStream>(std::move(fd)));
  }
  std::string Rest() {
    const size_t end = client_.received().find("\r\n\r\n");
    return end == std::string::npos ? "" : client_.received().substr(end + 4);
  }

  loop::EventLoop& loop_;
  transport::CallClient client_;
};

class LinkHostileTest : public LinkFixture {
 protected:
  // Expects that a node dismisses a peer and joins nothing.
  void ExpectRefused(Stranger& stranger) {
    EXPECT_EQ(stranger.Verdict(), "");
    EXPECT_TRUE(stranger.ended());
    EXPECT_THAT(node.asked, IsEmpty());
  }

  LinkedNode node{loop, "node"};
};

TEST_F(LinkHostileTest, AWrongProofIsRefused) {
  Stranger stranger(loop, node);
  EXPECT_TRUE(stranger.IsAnswered(node.bus.key));
  stranger.Send(stranger.Proof("a key that is guessed"));
  ExpectRefused(stranger);
}

TEST_F(LinkHostileTest, TheProofOfTheNodeIsNotOneForTheDialler) {
  Stranger stranger(loop, node);
  EXPECT_TRUE(stranger.IsAnswered(node.bus.key));
  stranger.Send(LinkProof(LinkRole::kAcceptor, stranger.terms, node.bus.key));
  ExpectRefused(stranger);
}

TEST_F(LinkHostileTest, AProofForAnotherNodeUrlWatchOrExecutorIsRefused) {
  for (std::string LinkTerms::* term :
       {&LinkTerms::node, &LinkTerms::url, &LinkTerms::watch, &LinkTerms::executor, &LinkTerms::channel_binding}) {
    Stranger stranger(loop, node);
    EXPECT_TRUE(stranger.IsAnswered(node.bus.key));
    stranger.terms.*term = "another";
    stranger.Send(stranger.Proof(node.bus.key));
    ExpectRefused(stranger);
  }
}

TEST_F(LinkHostileTest, AProofIsWorthNothingASecondTime) {
  Stranger watch(loop, node, "");
  EXPECT_TRUE(watch.IsAnswered(node.bus.key));
  const std::string proof = watch.Proof(node.bus.key);
  watch.Send(proof);
  EXPECT_EQ(watch.Verdict().substr(0, 1), "g");
  Stranger replay(loop, node, "");
  EXPECT_TRUE(replay.IsAnswered(node.bus.key));
  replay.Send(proof);
  ExpectRefused(replay);
}

TEST_F(LinkHostileTest, ALinkNeedsAWatch) {
  Stranger link(loop, node);
  EXPECT_TRUE(link.IsAnswered(node.bus.key));
  link.Send(link.Proof(node.bus.key));
  EXPECT_EQ(link.Verdict(), "u");
  EXPECT_THAT(node.asked, IsEmpty());
}

TEST_F(LinkHostileTest, APeerThatProvesNothingIsDismissed) {
  Stranger silent(loop, node), slow(loop, node), gone(loop, node);
  EXPECT_TRUE(silent.IsAnswered(node.bus.key) && slow.IsAnswered(node.bus.key));
  slow.Send("half of a proof");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(RunUntil([&] { return silent.ended() && slow.ended(); }));
  EXPECT_GT(std::chrono::steady_clock::now() - begin, 1s);
  EXPECT_THAT(node.asked, IsEmpty());
}

TEST_F(LinkHostileTest, OfTooManyPeersThatProveNothingTheFirstIsDismissed) {
  std::vector<std::unique_ptr<Stranger>> strangers;
  while (strangers.size() < LinkDoor::kMaxUnproven + 1) {
    strangers.push_back(std::make_unique<Stranger>(loop, node));
    ASSERT_TRUE(strangers.back()->IsAnswered(node.bus.key));
  }
  EXPECT_TRUE(RunUntil([&] { return strangers[0]->ended(); }));
  Stranger& last = *strangers.back();
  last.Send(last.Proof(node.bus.key));
  EXPECT_EQ(last.Verdict(), "u");
}

// A listener that answers a node with a text, and keeps what it is told.
class FakeAcceptor {
 public:
  FakeAcceptor(loop::EventLoop& loop, std::function<std::string(const std::string& key)> answer)
      : listener(loop, Security::kPlain, [this, &loop, answer](std::unique_ptr<transport::HttpCall> call) {
          transport::UpgradedSocket socket = call->TakeUpgrade();
          client = std::make_unique<transport::CallClient>(std::move(socket.stream));
          client->Send(answer(socket.key));
          (void)loop;
        }) {}

  TestListener listener;
  std::unique_ptr<transport::CallClient> client;
};

TEST_F(LinkHostileTest, ANodeProvesNothingToAStrangerThatCannot) {
  FakeAcceptor fake(loop, [](const std::string& key) {
    return transport::UpgradeAnswer(key) + std::string(kLinkNonceBytes + kLinkProofBytes, 'x');
  });
  Announce(node, {.name = "fake", .url = fake.listener.url()});
  EXPECT_EQ(Join(node).error(), NotElsewhere::kUnreachable);
  ASSERT_NE(fake.client, nullptr);
  EXPECT_TRUE(RunUntil([&] { return fake.client->ended(); }));
  EXPECT_EQ(fake.client->received(), "");  // nothing came behind the request
}

TEST_F(LinkHostileTest, AServerOfAnotherKindIsRefused) {
  for (const char* answer : {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "SSH-2.0-x\r\n\r\n", "\r\n\r\n"}) {
    FakeAcceptor fake(loop, [answer](const std::string&) { return answer; });
    Announce(node, {.name = answer, .url = fake.listener.url()});
    EXPECT_EQ(Join(node).error(), NotElsewhere::kUnreachable);
    node.bus.elsewhere.clear();
  }
}

TEST_F(LinkHostileTest, AServerThatSaysNothingIsGivenUp) {
  FakeAcceptor fake(loop, [](const std::string&) { return ""; });
  Announce(node, {.name = "silent", .url = fake.listener.url()});
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(Join(node).error(), NotElsewhere::kUnreachable);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 4s);
}

// A machine on the way, which passes on what a dialler and a node say to each other.
class Relay {
 public:
  Relay(loop::EventLoop& loop, Security security, std::string node_url)
      : listener(loop, security,
                 [this, &loop](std::unique_ptr<transport::HttpCall> call) {
                   const auto& request = call->request();
                   const std::string target = request.path + "?" + request.query;
                   scope_.Start(Pass(loop, call->TakeUpgrade(), target));
                 }),
        node_url_(std::move(node_url)) {}

  TestListener listener;

 private:
  loop::Task<> Pass(loop::EventLoop& loop, transport::UpgradedSocket socket, std::string target) {
    const auto server = std::get<transport::WebSocketServer>(*transport::ParseServerUrl(node_url_));
    auto dialled = co_await transport::DialStream(loop, server, transport::TlsContext::ForClient("").value(), 10s);
    if (!dialled) co_return;
    LinkTalk node(loop, std::move(dialled->stream)), dialler(loop, std::move(socket.stream));
    loop::Deadline deadline(loop, 10s);
    (void)node.Send(support::WebSocketClient::UpgradeRequest(target));
    (void)co_await node.ReceiveHead(deadline);
    const auto answer = co_await node.Receive(kLinkNonceBytes + kLinkProofBytes, deadline);
    if (!answer) co_return;
    (void)dialler.Send(transport::UpgradeAnswer(socket.key) + *answer);
    const auto proof = co_await dialler.Receive(kLinkProofBytes, deadline);
    if (!proof) co_return;
    (void)node.Send(*proof);
    const auto verdict = co_await node.Receive(1, deadline);
    if (verdict) (void)dialler.Send(*verdict);
    (void)co_await node.Receive(1'000'000, deadline);  // keeps both connections
  }

  const std::string node_url_;
  loop::Scope scope_;
};

class LinkRelayTest : public LinkFixture {
 protected:
  // Returns whether a node makes a link to another behind a relay, which is where the other says that it is.
  bool JoinsBehind(Security relay_security, Security node_security) {
    LinkedNode near(loop, "near"), far(loop, "far", node_security);
    Relay relay(loop, relay_security, far.listener.url());
    far.bus.own_place.url = relay.listener.url();
    Announce(near, far.bus.own_place);
    return Join(near).has_value();
  }
};

TEST_F(LinkRelayTest, AnEntryThatLeadsANodeElsewhereIsFoundOut) {
  LinkedNode near(loop, "near"), far(loop, "far");
  Relay relay(loop, Security::kPlain, far.listener.url());
  Announce(near, {.name = far.bus.own_place.name, .url = relay.listener.url()});  // forged
  EXPECT_EQ(Join(near).error(), NotElsewhere::kUnreachable);
  EXPECT_EQ(far.calls, 1);
  EXPECT_THAT(far.asked, IsEmpty());
}

TEST_F(LinkRelayTest, AMachineThatEndsTlsOnTheWayIsFoundOut) {
  EXPECT_TRUE(JoinsBehind(Security::kPlain, Security::kPlain));  // the relay works; others read what is sent in plain
  EXPECT_FALSE(JoinsBehind(Security::kTls, Security::kTls));
  EXPECT_FALSE(JoinsBehind(Security::kPlain, Security::kTls));
  EXPECT_FALSE(JoinsBehind(Security::kTls, Security::kPlain));
}

TEST_F(LinkRelayTest, AProxyWithAValidCertificateMayEndTls) {
  LinkedNode near(loop, "near"), far(loop, "far");
  Relay relay(loop, Security::kTls, far.listener.url());
  far.bus.own_place.url = relay.listener.url();
  Announce(near, far.bus.own_place);
  ::setenv("SSL_CERT_FILE", relay.listener.certificate_file().c_str(), 1);
  EXPECT_TRUE(Join(near));
  ::unsetenv("SSL_CERT_FILE");
}

}  // namespace
}  // namespace holdfast::rendezvous
