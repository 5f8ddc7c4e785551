#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/client_fixture.h"
#include "support/proc.h"

namespace holdfast::http {
namespace {

using namespace std::chrono_literals;
using support::EchoRequest;
using support::HttpArrival;
using support::HttpPeer;
using support::HttpServer;
using support::RunReady;
using support::RunUntil;
using testing::HasSubstr;

constexpr size_t kMebibyte = 1u << 20;

// Returns byte `i` of a body of any length, in which every byte is known.
char ByteAt(size_t i) { return static_cast<char>('a' + i / 1000 % 26); }

std::string Piece(size_t from, size_t size) {
  std::string piece(size, '\0');
  for (size_t i = 0; i < size; ++i) piece[i] = ByteAt(from + i);
  return piece;
}

// A LongBody script sends a long body, and records that the client has read nothing for a while.
struct LongBody {
  size_t bytes;
  std::atomic<size_t> sent = 0;
  std::atomic<bool> held_back = false;

  void operator()(const HttpArrival&, HttpPeer& peer) {
    peer.Send(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", bytes));
    while (sent < bytes) {
      pollfd entry{.fd = peer.fd(), .events = POLLOUT, .revents = 0};
      if (::poll(&entry, 1, 200) == 0) held_back = true;
      if (!peer.Send(Piece(sent, std::min(bytes - sent, size_t{100'000})))) return;
      sent += std::min(bytes - sent, size_t{100'000});
    }
  }
};

class ClientFlowTest : public ClientFixture {
 protected:
  bool RunUntilHangUp(const HttpServer& server) {
    return RunUntil(loop_, [&] { return server.open_connections() == 0; });
  }

  // Sends an endless body.
  static void Stream(const HttpArrival&, HttpPeer& peer) {
    peer.Send("HTTP/1.1 200 OK\r\n\r\n");
    while (peer.Send("more")) {
    }
  }
};

TEST_F(ClientFlowTest, HoldsTheServerBackWhilePaused) {
  LongBody script{64 * kMebibyte};
  HttpServer server(std::ref(script));
  auto asked = Start(Get(server.Url()));
  asked->keeps_body = false;
  asked->on_response = [&] { asked->exchange->Pause(); };
  // A client whose loop stands still for a while holds the server back too, without a pause.
  ASSERT_TRUE(RunUntil(loop_, [&] { return asked->response && script.held_back; }));
  EXPECT_LT(script.sent, 32 * kMebibyte);  // what the buffers of two sockets hold
  EXPECT_EQ(asked->body_bytes, 0u);
  EXPECT_FALSE(asked->outcome);
  asked->exchange->Resume();
  EXPECT_EQ(asked->body_bytes, 0u);  // Resume itself calls no observer
  EXPECT_TRUE(RunUntil(loop_, [&] { return asked->outcome.has_value(); }, 60s));
  EXPECT_TRUE(asked->succeeded()) << asked->error();
  EXPECT_EQ(asked->body_bytes, script.bytes);
}

TEST_F(ClientFlowTest, LosesAndRepeatsNothingAcrossPauses) {
  LongBody script{4 * kMebibyte};
  HttpServer server(std::ref(script));
  auto asked = Start(Get(server.Url()));
  int pauses = 0;
  asked->on_body = [&] {
    ++pauses;
    asked->exchange->Pause();
    const size_t before = asked->body_bytes;
    loop_.Post([&, before] {
      EXPECT_EQ(asked->body_bytes, before);
      asked->exchange->Resume();
    });
  };
  EXPECT_TRUE(Await(*asked));
  EXPECT_TRUE(asked->succeeded()) << asked->error();
  EXPECT_TRUE(asked->body == Piece(0, script.bytes));
  EXPECT_GT(pauses, 10);
}

TEST_F(ClientFlowTest, LosesNothingOfChunksAcrossPauses) {
  HttpServer server([](const HttpArrival&, HttpPeer& peer) {
    peer.Send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (size_t at = 0; at < 2 * kMebibyte; at += 1024) peer.Send("400\r\n" + Piece(at, 1024) + "\r\n");
    peer.Send("0\r\n\r\n");
  });
  auto asked = Start(Get(server.Url()));
  asked->on_body = [&] {
    asked->exchange->Pause();
    loop_.Post([&] { asked->exchange->Resume(); });
  };
  EXPECT_TRUE(Await(*asked));
  EXPECT_TRUE(asked->succeeded()) << asked->error();
  EXPECT_TRUE(asked->body == Piece(0, 2 * kMebibyte));
}

TEST_F(ClientFlowTest, EndsAfterTheBodyAlsoWhenPaused) {
  HttpServer server([](const HttpArrival&, HttpPeer& peer) {
    peer.Answer(200, "all of it");
    peer.Close();
  });
  auto asked = Start(Get(server.Url()));
  asked->on_response = [&] { asked->exchange->Pause(); };
  ASSERT_TRUE(RunUntil(loop_, [&] { return asked->response && server.open_connections() == 0; }));
  RunReady(loop_);
  EXPECT_EQ(asked->body, "");
  EXPECT_FALSE(asked->outcome);
  asked->exchange->Resume();
  EXPECT_TRUE(Await(*asked));
  EXPECT_EQ(asked->body, "all of it");
  EXPECT_TRUE(asked->succeeded());
}

TEST_F(ClientFlowTest, TimesOutAlsoWhenPaused) {
  HttpServer server(Stream);
  auto asked = Start({.method = "GET", .url = server.Url(), .timeout = 200ms});
  asked->on_response = [&] { asked->exchange->Pause(); };
  EXPECT_TRUE(Await(*asked));
  EXPECT_THAT(asked->error(), HasSubstr("timed out after 200 ms"));
  EXPECT_TRUE(RunUntilHangUp(server));
}

TEST_F(ClientFlowTest, ToleratesPausesThatChangeNothing) {
  HttpServer server(EchoRequest);
  auto asked = Start(Get(server.Url()));
  asked->exchange->Resume();
  asked->exchange->Pause();
  asked->exchange->Pause();
  asked->exchange->Resume();
  asked->exchange->Resume();
  EXPECT_TRUE(Await(*asked));
  EXPECT_TRUE(asked->succeeded()) << asked->error();
  asked->exchange->Pause();
  asked->exchange->Resume();
  RunReady(loop_);
}

TEST_F(ClientFlowTest, CancelsBeforeTheLibraryIsThere) {
  HttpServer server(EchoRequest);
  auto asked = Start(Get(server.Url()));
  asked->exchange.reset();
  EXPECT_TRUE(Ask(Get(server.Url()))->succeeded());
  EXPECT_FALSE(asked->response || asked->outcome);
}

TEST_F(ClientFlowTest, CancelsWhileNothingHasCome) {
  HttpServer server([](const HttpArrival&, HttpPeer& peer) { peer.AwaitHangUp(); });
  auto asked = Start(Get(server.Url()));
  ASSERT_TRUE(RunUntil(loop_, [&] { return !server.arrivals().empty(); }));
  asked->exchange.reset();
  EXPECT_TRUE(RunUntilHangUp(server));
  EXPECT_FALSE(asked->response || asked->outcome);
}

TEST_F(ClientFlowTest, CancelsAtEveryTurn) {
  HttpServer server(EchoRequest);
  ASSERT_TRUE(Ask(Get(server.Url()))->succeeded());
  for (int turns = 0; turns < 12; ++turns) {
    auto asked = Start(Get(server.Url()));
    int left = turns;
    (void)RunUntil(loop_, [&] { return left-- == 0 || asked->outcome; });
    const bool ended = asked->outcome.has_value();
    asked->exchange.reset();
    RunReady(loop_);
    EXPECT_EQ(asked->outcome.has_value(), ended);
  }
  EXPECT_TRUE(Ask(Get(server.Url()))->succeeded());
}

TEST_F(ClientFlowTest, CancelsInsideOnResponse) {
  HttpServer server(Stream);
  auto asked = Start(Get(server.Url()));
  asked->on_response = [&] { asked->exchange.reset(); };
  ASSERT_TRUE(RunUntil(loop_, [&] { return asked->response.has_value(); }));
  EXPECT_TRUE(RunUntilHangUp(server));
  EXPECT_EQ(asked->body, "");
  EXPECT_FALSE(asked->outcome);
}

TEST_F(ClientFlowTest, CancelsInsideOnBody) {
  HttpServer server(Stream);
  auto asked = Start(Get(server.Url()));
  asked->on_body = [&] { asked->exchange.reset(); };
  ASSERT_TRUE(RunUntil(loop_, [&] { return asked->body_bytes > 0; }));
  const size_t bytes = asked->body_bytes;
  EXPECT_TRUE(RunUntilHangUp(server));
  EXPECT_EQ(asked->body_bytes, bytes);
  EXPECT_FALSE(asked->outcome);
}

TEST_F(ClientFlowTest, MayGoInsideOnEnd) {
  HttpServer server(EchoRequest);
  for (const std::string& url : {server.Url(), std::string("http://127.0.0.1:1/")}) {
    auto asked = Start(Get(url));
    bool ended = false;
    asked->on_end = [&] {
      ended = true;
      asked->exchange.reset();
    };
    EXPECT_TRUE(RunUntil(loop_, [&] { return ended; }));
  }
}

TEST_F(ClientFlowTest, MayGoInsideATimeout) {
  HttpServer server([](const HttpArrival&, HttpPeer& peer) { peer.AwaitHangUp(); });
  auto asked = Start({.method = "GET", .url = server.Url(), .timeout = 1ms});
  asked->on_end = [&] { asked->exchange.reset(); };
  EXPECT_TRUE(Await(*asked));
}

TEST_F(ClientFlowTest, TakesItsClientWithItInsideOnEnd) {
  HttpServer server(EchoRequest);
  for (const char* library : {"libcurl.so.4", "libno-such-curl.so"}) {
    Restart({.library = library});
    auto asked = Start(Get(server.Url()));
    asked->on_end = [&] {
      asked->exchange.reset();
      client_.reset();
    };
    EXPECT_TRUE(Await(*asked));
    RunReady(loop_);
  }
}

TEST_F(ClientFlowTest, CancelsAnotherInsideACallback) {
  HttpServer server(Stream);
  auto first = Start(Get(server.Url()));
  auto second = Start(Get(server.Url()));
  first->keeps_body = second->keeps_body = false;
  ASSERT_TRUE(RunUntil(loop_, [&] { return first->response && second->response; }));
  first->on_body = [&] { second->exchange.reset(); };
  second->on_body = [&] { first->exchange.reset(); };
  EXPECT_TRUE(RunUntil(loop_, [&] { return server.open_connections() == 1; }));
  first->exchange.reset();
  second->exchange.reset();
  EXPECT_TRUE(RunUntilHangUp(server));
}

TEST_F(ClientFlowTest, StartsTheNextInsideOnEnd) {
  HttpServer server(EchoRequest);
  auto first = Start(Get(server.Url("/1")));
  std::unique_ptr<Asked> second;
  first->on_end = [&] { second = Start(Get(server.Url("/2"))); };
  EXPECT_TRUE(RunUntil(loop_, [&] { return second && second->outcome; }));
  EXPECT_TRUE(second->succeeded()) << second->error();
  EXPECT_EQ(server.connections(), 1u);
}

TEST_F(ClientFlowTest, RunsManyAtOnce) {
  std::latch all_have_asked(1);
  HttpServer server([&](const HttpArrival& arrival, HttpPeer& peer) {
    all_have_asked.wait();
    EchoRequest(arrival, peer);
  });
  std::vector<std::unique_ptr<Asked>> all;
  for (int i = 0; i < 50; ++i) all.push_back(Start(Get(server.Url(fmt::format("/{}", i)))));
  EXPECT_TRUE(RunUntil(loop_, [&] { return server.arrivals().size() == all.size(); }));
  all_have_asked.count_down();
  for (size_t i = 0; i < all.size(); ++i) {
    ASSERT_TRUE(Await(*all[i]));
    EXPECT_TRUE(all[i]->succeeded()) << all[i]->error();
    EXPECT_THAT(all[i]->body, testing::StartsWith(fmt::format("GET /{}\n", i)));
  }
  EXPECT_TRUE(RunUntil(loop_, [&] { return server.open_connections() <= 16; }));
}

TEST_F(ClientFlowTest, UsesAConnectionAgain) {
  HttpServer server(EchoRequest);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(Ask(Get(server.Url()))->succeeded());
  EXPECT_EQ(server.connections(), 1u);
}

TEST_F(ClientFlowTest, ReplacesAConnectionThatDied) {
  HttpServer server([](const HttpArrival& arrival, HttpPeer& peer) {
    EchoRequest(arrival, peer);
    peer.Close();
  });
  for (int i = 0; i < 20; ++i) {
    const auto asked = Ask({.method = "POST", .url = server.Url(), .body = "abc"});
    EXPECT_TRUE(asked->succeeded()) << asked->error();
  }
}

TEST_F(ClientFlowTest, ClosesConnectionsThatNobodyUses) {
  Restart({.idle_time = 20ms});
  HttpServer server(EchoRequest);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(Ask(Get(server.Url()))->succeeded());
    EXPECT_TRUE(RunUntilHangUp(server));
  }
}

TEST_F(ClientFlowTest, KeepsConnectionsInUseHoweverLong) {
  Restart({.idle_time = 10ms});
  HttpServer server([](const HttpArrival& arrival, HttpPeer& peer) {
    pollfd nothing{.fd = peer.fd(), .events = POLLRDHUP, .revents = 0};
    if (arrival.target == "/slow") ::poll(&nothing, 1, 50);
    EchoRequest(arrival, peer);
  });
  EXPECT_TRUE(Ask(Get(server.Url()))->succeeded());
  const auto slow = Ask(Get(server.Url("/slow")));
  EXPECT_TRUE(slow->succeeded()) << slow->error();
}

// Returns the sockets of this process that are connected to that port.
std::vector<int> SocketsTo(uint16_t port) {
  std::vector<int> sockets;
  for (int fd = 0; fd < 1024; ++fd) {
    sockaddr_in address{};
    socklen_t size = sizeof(address);
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) continue;
    if (address.sin_family == AF_INET && ntohs(address.sin_port) == port) sockets.push_back(fd);
  }
  return sockets;
}

TEST_F(ClientFlowTest, OpensSocketsThatNoChildInherits) {
  HttpServer server(EchoRequest);
  EXPECT_TRUE(Ask(Get(server.Url()))->succeeded());
  const auto sockets = SocketsTo(server.port());
  ASSERT_EQ(sockets.size(), 1u);
  EXPECT_EQ(::fcntl(sockets[0], F_GETFD), FD_CLOEXEC);
}

TEST_F(ClientFlowTest, GivesAllDescriptorsBack) {
  EXPECT_THAT(Ask(Get("http://127.0.0.1:1/"))->error(), HasSubstr("connect"));  // loads the library
  client_.reset();
  const size_t before = support::CountFds(::getpid());
  {
    HttpServer server([](const HttpArrival& arrival, HttpPeer& peer) {
      if (arrival.target == "/stream") return Stream(arrival, peer);
      EchoRequest(arrival, peer);
      if (arrival.target == "/close") peer.Close();
    });
    Restart({});
    for (int i = 0; i < 25; ++i) {
      EXPECT_TRUE(Ask(Get(server.Url()))->succeeded());
      EXPECT_TRUE(Ask(Get(server.Url("/close")))->succeeded());
      EXPECT_FALSE(Ask(Get("http://127.0.0.1:1/"))->succeeded());
      auto asked = Start(Get(server.Url("/stream")));
      EXPECT_TRUE(RunUntil(loop_, [&] { return asked->body_bytes > 0; }));
    }
    EXPECT_LE(SocketsTo(server.port()).size(), 16u);
    client_.reset();
  }
  EXPECT_EQ(support::CountFds(::getpid()), before);
}

}  // namespace
}  // namespace holdfast::http
