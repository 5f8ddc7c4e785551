#include "transport/dial.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include <gtest/gtest.h>

#include "support/scratch_dir.h"
#include "transport/dialler.h"
#include "transport/raw_server.h"
#include "transport/socket_address.h"
#include "transport/test_server.h"

namespace holdfast::transport {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kShort(50);

void Echo(Peer& peer, std::string_view message) { peer.transport()->Send(std::string(message)); }

std::string EchoText(size_t size) {
  std::string text(size, '\0');
  for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + i % 26);
  return text;
}

// Dials a raw server that answers the upgrade with `answer` and hangs up.
Error RefusalAfter(std::string_view answer) {
  RawServer server;
  Dialler client;
  loop::Scope scope;
  std::optional<Dialler::Dialled> outcome;
  client.Begin(scope, server.url(), {}, outcome);
  auto accepted = server.Accept();
  client.RunUntil([&] { return accepted.ReceiveSome(milliseconds(1)).has_value(); });
  accepted.Send(answer);
  accepted.CloseWrite();
  client.RunUntil([&] { return outcome.has_value(); });
  if (!outcome || *outcome) {
    ADD_FAILURE() << "the dial did not fail";
    return {};
  }
  std::string message = outcome->error().message;
  if (const size_t at = message.find(server.name()); at != std::string::npos) {
    message.replace(at, server.name().size(), "SERVER");
  }
  return {outcome->error().kind, message};
}

TEST(DialTest, ExchangesMessagesWithAWebSocketServer) {
  TestServer server(Limits(), Echo);
  Dialler client;
  Peer* peer = client.Connect(server.url());
  ASSERT_NE(peer, nullptr);
  for (const size_t size : {0u, 1u, 125u, 126u, 2'047u, 2'048u, 65'535u, 65'536u, 1'000'000u}) {
    const std::string text = EchoText(size);
    peer->transport()->Send(text);
    ASSERT_EQ(client.Receive(*peer), text);
  }
}

TEST(DialTest, SendsALongMessageInMaskedFragments) {
  TestServer server(Limits(), Echo);
  Dialler client;
  DialOptions options;
  options.limits.outbound_frame_bytes = 1'001;  // no multiple of the word in which a payload is masked
  Peer* peer = client.Connect(server.url(), options);
  ASSERT_NE(peer, nullptr);
  const std::string text = EchoText(100'000);
  peer->transport()->Send(text);
  EXPECT_EQ(client.Receive(*peer), text);
}

TEST(DialTest, PingsTheServerWithAMaskedFrame) {
  TestServer server(Limits(), Echo);
  Dialler client;
  DialOptions options;
  options.limits.ping_interval = milliseconds(1);
  Peer* peer = client.Connect(server.url(), options);
  ASSERT_NE(peer, nullptr);
  loop::Timer later(client.loop(), [&] { peer->transport()->Send("after some pings"); });
  later.Start(milliseconds(20));
  EXPECT_EQ(client.Receive(*peer), "after some pings");  // an unmasked ping would end the connection
}

TEST(DialTest, SendsThePathAndTheHeaders) {
  RawServer server;
  Dialler client;
  loop::Scope scope;
  std::optional<Dialler::Dialled> outcome;
  client.Begin(scope, server.url() + "/secret?x=1", {.headers = {{"X-Test", "some value"}}}, outcome);
  auto accepted = server.Accept();
  std::optional<std::string> request;
  client.RunUntil([&] { return (request = accepted.ReceiveSome(milliseconds(1))).has_value(); });
  ASSERT_TRUE(request.has_value());
  EXPECT_TRUE(request->starts_with("GET /secret?x=1 HTTP/1.1\r\n")) << *request;
  EXPECT_TRUE(request->contains("\r\nX-Test: some value\r\n")) << *request;
  EXPECT_TRUE(request->contains("\r\nHost: " + server.name() + "\r\n")) << *request;
  EXPECT_FALSE(request->contains("Origin")) << *request;
}

TEST(DialTest, RefusesHeadersThatWouldBreakTheRequest) {
  Dialler client;
  for (const auto& [name, value] : {std::pair("X-A", "b\r\nX-C: d"), std::pair("X A", "b"), std::pair("", "b")}) {
    const auto dialled = client.Dial("ws://127.0.0.1:1", {.headers = {{name, value}}});
    ASSERT_FALSE(dialled.has_value());
    EXPECT_EQ(dialled.error().kind, ErrorKind::kInvalidParams);
  }
}

TEST(DialTest, ClosesInOrder) {
  TestServer server;
  Dialler client;
  Peer* peer = client.Connect(server.url());
  ASSERT_NE(peer, nullptr);
  peer->transport()->Send("last words");
  peer->transport()->Close();
  EXPECT_TRUE(client.AwaitClosed(*peer));
  Peer& accepted = server.WaitForPeer();
  EXPECT_EQ(accepted.WaitForMessage(), "last words");
  EXPECT_TRUE(accepted.WaitForClosed());
}

TEST(DialTest, SeesTheServerClose) {
  TestServer server;
  Dialler client;
  Peer* peer = client.Connect(server.url());
  ASSERT_NE(peer, nullptr);
  Peer& accepted = server.WaitForPeer();
  server.Run([&] { accepted.transport()->Close(); });
  EXPECT_TRUE(client.AwaitClosed(*peer));
}

// Returns the descriptors of this process that are connected to the server.
std::vector<int> SocketsTo(const TestServer& server) {
  std::vector<int> sockets;
  for (int fd = 3; fd < 1024; ++fd) {
    SocketAddress address;
    if (::getpeername(fd, address.get(), &address.size) != 0 || address.family() != AF_INET) continue;
    if (server.url() == "ws://" + TextOf(address)) sockets.push_back(fd);
  }
  return sockets;
}

int OptionOf(int socket, int level, int option) {
  int value = -1;
  socklen_t size = sizeof(value);
  EXPECT_EQ(::getsockopt(socket, level, option, &value, &size), 0);
  return value;
}

TEST(DialTest, NoticesAServerThatIsGoneWithoutAWord) {
  TestServer server;
  Dialler client;
  ASSERT_NE(client.Connect(server.url()), nullptr);
  const std::vector<int> sockets = SocketsTo(server);
  ASSERT_EQ(sockets.size(), 1u);
  EXPECT_EQ(OptionOf(sockets[0], SOL_SOCKET, SO_KEEPALIVE), 1);
  const int idle_s = OptionOf(sockets[0], IPPROTO_TCP, TCP_KEEPIDLE);
  const int interval_s = OptionOf(sockets[0], IPPROTO_TCP, TCP_KEEPINTVL);
  EXPECT_EQ(idle_s + interval_s * OptionOf(sockets[0], IPPROTO_TCP, TCP_KEEPCNT), 20);
}

TEST(DialTest, FindsAServerByItsName) {
  TestServer server(Limits(), Echo);
  std::string url = server.url();
  url.replace(url.find("127.0.0.1"), 9, "localhost");
  Dialler client;
  Peer* peer = client.Connect(url);
  ASSERT_NE(peer, nullptr);
  peer->transport()->Send("by name");
  EXPECT_EQ(client.Receive(*peer), "by name");
}

TEST(DialTest, ExchangesLinesWithAUnixServer) {
  const support::ScratchDir dir;
  const std::string path = dir.path() + "/s";
  TestServer server(
      [&](loop::EventLoop& loop, OnConnection on_connection) {
        return ListenUnix(loop, {path}, Limits(), TestRoutes(), std::move(on_connection));
      },
      Echo);
  Dialler client;
  Peer* peer = client.Connect("unix://" + path);
  ASSERT_NE(peer, nullptr);
  peer->transport()->Send("{\"a\":1}");
  EXPECT_EQ(client.Receive(*peer), "{\"a\":1}");
}

TEST(DialTest, SaysThatNobodyListens) {
  RawServer server;
  server.Close();
  Dialler client;
  const auto dialled = client.Dial(server.url() + "/secret");
  ASSERT_FALSE(dialled.has_value());
  EXPECT_EQ(dialled.error().kind, ErrorKind::kDisconnected);
  EXPECT_EQ(dialled.error().message, "cannot reach the server at " + server.name() + ": Connection refused");
}

TEST(DialTest, SaysThatThereIsNoSuchSocket) {
  const auto dialled = Dialler().Dial("unix:///nonexistent/s");
  ASSERT_FALSE(dialled.has_value());
  EXPECT_EQ(dialled.error().kind, ErrorKind::kDisconnected);
  EXPECT_EQ(dialled.error().message, "cannot reach the server at /nonexistent/s: No such file or directory");
}

// Names under .invalid never exist (RFC 2606). Without a network the lookup fails for another reason.
TEST(DialTest, SaysThatANameCannotBeFound) {
  const auto dialled = Dialler().Dial("ws://holdfast.invalid:80");
  ASSERT_FALSE(dialled.has_value());
  EXPECT_EQ(dialled.error().kind, ErrorKind::kDisconnected);
  EXPECT_TRUE(dialled.error().message.starts_with("cannot reach the server at holdfast.invalid:80: "));
  EXPECT_NE(dialled.error().message.rfind("holdfast.invalid"), dialled.error().message.find("holdfast.invalid"))
      << dialled.error().message;
}

TEST(DialTest, GivesUpWhenTheServerDoesNotAnswerTheUpgrade) {
  RawServer server;
  const auto dialled = Dialler().Dial(server.url(), {.timeout = kShort});
  ASSERT_FALSE(dialled.has_value());
  EXPECT_EQ(dialled.error().kind, ErrorKind::kTimeout);
  EXPECT_EQ(dialled.error().message, "the server at " + server.name() + " did not answer the upgrade in time");
}

// The queue of a listening socket with a backlog of 0 has room for one connection.
TEST(DialTest, GivesUpOnABusyUnixServer) {
  const support::ScratchDir dir;
  const std::string path = dir.path() + "/s";
  const OwnedFd listening(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto address = UnixAddress(path);
  ASSERT_EQ(::bind(listening.get(), address.get(), address.size), 0);
  ASSERT_EQ(::listen(listening.get(), 0), 0);
  Dialler client;
  ASSERT_TRUE(client.Dial("unix://" + path).has_value());
  const auto dialled = client.Dial("unix://" + path, {.timeout = kShort});
  ASSERT_FALSE(dialled.has_value());
  EXPECT_EQ(dialled.error().kind, ErrorKind::kTimeout);
}

// A unix socket on which another process has called listen, so that the kernel takes that process for the server. It
// has ended when the object is made.
class ListenedByOther {
 public:
  explicit ListenedByOther(const std::function<bool()>& prepare) {
    const auto address = UnixAddress(path());
    EXPECT_EQ(::bind(socket_.get(), address.get(), address.size), 0);
    const pid_t other = ::fork();
    if (other == 0) ::_exit(prepare() && ::listen(socket_.get(), 8) == 0 ? 0 : 1);
    int status = -1;
    EXPECT_EQ(::waitpid(other, &status, 0), other);
    EXPECT_EQ(status, 0);
  }

  // Returns why a client does not speak to the server.
  std::string Refusal() const {
    Dialler client;
    const auto dialled = client.Dial("unix://" + path(), {.unix_peer = UnixPeer::kOurs});
    if (dialled) return "no refusal";
    EXPECT_EQ(dialled.error().kind, ErrorKind::kPermissionDenied);
    return dialled.error().message;
  }

  std::string path() const { return dir_.path() + "/s"; }

 private:
  const support::ScratchDir dir_;
  const OwnedFd socket_{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
};

// A sandboxed command that listened could have left its socket to another process.
TEST(DialTest, DoesNotSpeakToAUnixServerWhoseProcessHasEnded) {
  const ListenedByOther server([] { return true; });
  EXPECT_TRUE(server.Refusal().contains(server.path() + " has ended, and another process may use its socket"));
  EXPECT_TRUE(Dialler().Dial("unix://" + server.path()).has_value());  // a server that the user names may be anybody's
}

TEST(DialTest, DoesNotSpeakToAUnixServerOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can act as another user";
  const ListenedByOther server([] { return ::setuid(65534) == 0; });
  EXPECT_TRUE(server.Refusal().contains(server.path() + " belongs to another user")) << server.Refusal();
}

TEST(DialTest, SpeaksToAUnixServerOfItsOwnUser) {
  const support::ScratchDir dir;
  const OwnedFd listening(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto address = UnixAddress(dir.path() + "/s");
  ASSERT_EQ(::bind(listening.get(), address.get(), address.size), 0);
  ASSERT_EQ(::listen(listening.get(), 8), 0);
  Dialler client;
  const auto dialled = client.Dial("unix://" + dir.path() + "/s", {.unix_peer = UnixPeer::kOurs});
  EXPECT_TRUE(dialled.has_value()) << dialled.error().message;
}

TEST(DialTest, ReachesAUnixServerBehindALongPath) {
  const support::ScratchDir dir;
  const std::string directory = dir.path() + "/" + std::string(200, 'd');
  std::filesystem::create_directory(directory);
  loop::EventLoop loop;
  const auto listener = ListenUnix(loop, UnixUrl{directory + "/s"}, Limits(), {}, [](auto) {});
  ASSERT_TRUE(listener.has_value()) << listener.error().message;
  EXPECT_EQ((*listener)->url(), "unix://" + directory + "/s");
  Dialler client;
  const auto dialled = client.Dial((*listener)->url(), {});
  EXPECT_TRUE(dialled.has_value()) << dialled.error().message;
  (*listener)->Stop();
  EXPECT_FALSE(std::filesystem::exists(directory + "/s"));
}

TEST(DialTest, SaysWithWhichStatusTheServerRefuses) {
  EXPECT_EQ(RefusalAfter("HTTP/1.1 401 Unauthorized\r\nContent-Length: 4\r\n\r\nno!\n"),
            (Error{ErrorKind::kPermissionDenied, "the server at SERVER refused the WebSocket: 401 Unauthorized"}));
}

TEST(DialTest, ShowsNoReasonThatCouldDeceiveATerminal) {
  EXPECT_EQ(
      RefusalAfter("HTTP/1.1 401 No\x80\x9b[2J\xff\r\nContent-Length: 0\r\n\r\n"),
      (Error{ErrorKind::kPermissionDenied, R"(the server at SERVER refused the WebSocket: 401 No\x80\x9b[2J\xff)"}));
}

TEST(DialTest, SaysThatTheServerSpeaksSomethingElse) {
  const Error error = RefusalAfter("SSH-2.0-OpenSSH_9.2\r\n");
  EXPECT_EQ(error.kind, ErrorKind::kInvalidRequest);
  EXPECT_TRUE(error.message.starts_with("the server at SERVER does not speak WebSocket: ")) << error.message;
}

TEST(DialTest, ChecksThatTheServerHasReadTheKey) {
  const Error error = RefusalAfter(
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n");
  EXPECT_EQ(error.kind, ErrorKind::kInvalidRequest);
  EXPECT_TRUE(error.message.starts_with("the server at SERVER does not speak WebSocket: ")) << error.message;
}

TEST(DialTest, SaysThatTheServerHungUp) {
  EXPECT_EQ(RefusalAfter(""), (Error{ErrorKind::kDisconnected,
                                     "the server at SERVER closed the connection before it answered the upgrade"}));
}

TEST(DialTest, AbandonsTheConnectionWhenItsTaskEnds) {
  RawServer server;
  Dialler client;
  std::optional<Dialler::Dialled> outcome;
  std::optional<loop::Scope> scope(std::in_place);
  client.Begin(*scope, server.url(), {}, outcome);
  auto accepted = server.Accept();
  client.RunUntil([&] { return accepted.ReceiveSome(milliseconds(1)).has_value(); });
  scope.reset();
  support::RunReady(client.loop());
  EXPECT_EQ(accepted.ReceiveSome(), "");
  EXPECT_FALSE(outcome.has_value());
}

TEST(DialTest, AbandonsALookupWhenItsTaskEnds) {
  Dialler client;
  std::optional<Dialler::Dialled> outcome;
  {
    loop::Scope scope;
    client.Begin(scope, "ws://localhost:1", {}, outcome);
  }
  support::RunReady(client.loop());
  EXPECT_FALSE(outcome.has_value());
}

}  // namespace
}  // namespace holdfast::transport
