// Tests of the addresses that the server listens on, of the URL that it prints, and of the limits on connections and
// messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "support/eventually.h"
#include "support/proc.h"
#include "support/rpc_client.h"
#include "support/server_process.h"
#include "support/web_socket_client.h"

namespace holdfast::support {
namespace {

using namespace std::chrono_literals;
using Kind = Received::Kind;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

std::string Ask(const std::string& url, std::string_view request) {
  TestSocket socket = TestSocket::Connect(url);
  socket.Send(request);
  return socket.ReceiveAll().value_or("no end of the answer");
}

// Returns a port that was free a moment ago.
uint16_t FreePort() {
  const OwnedFd probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(probe.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::getsockname(probe.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  return ntohs(address.sin_port);
}

bool HasIpv6Loopback() {
  const OwnedFd probe(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  return ::bind(probe.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

// Runs a short process from its start to its end, so that every direction of the transport is used.
void ExpectServes(RpcClient& client) {
  client.Handshake();
  client.Start(Shell("p", "read line; echo got $line", Stdin::kPipe));
  client.Write("p", "it\n");
  EXPECT_EQ(client.WaitForClosed("p"), "got it\n");
  EXPECT_EQ(client.WaitForExit("p"), 0);
}

void SendRequest(WebSocketClient& client, int64_t id, std::string_view method, std::string_view params) {
  EXPECT_TRUE(client.SendText(fmt::format(R"({{"id":{},"method":"{}","params":{}}})", id, method, params)));
}

// Returns a client that has done the handshake, with request 1.
WebSocketClient ConnectReady(const std::string& url) {
  auto client = WebSocketClient::Connect(url);
  SendRequest(client, 1, "initialize", R"({"clientName":"ordinary"})");
  EXPECT_THAT(client.ReceiveText(), StartsWith(R"({"id":1,"result":{"sessionId":)"));
  client.SendText(R"({"method":"initialized"})");
  return client;
}

TEST(TransportTest, ListensOnALoopbackPortOfItsOwnByDefault) {
  ServerProcess server = ServerProcess::Start();
  EXPECT_THAT(server.url(), MatchesRegex("ws://127\\.0\\.0\\.1:[1-9][0-9]+/[0-9a-f]+"));
  RpcClient client(OpenChannel(server.url()));
  ExpectServes(client);
}

TEST(TransportTest, SaysNothingOnStdoutBesideTheUrl) {
  ServerProcess server = ServerProcess::Start({"--log-level", "debug"});
  RpcClient client(OpenChannel(server.url()));
  ExpectServes(client);
  client.Call("no such method");
  client.Disconnect();
  server.Stop();
  EXPECT_EQ(server.RestOfStdout(), "");
}

TEST(TransportTest, ListensOnTheGivenPort) {
  const std::string url = "ws://127.0.0.1:" + std::to_string(FreePort());
  ServerProcess server = ServerProcess::Start({"--listen", url});
  EXPECT_EQ(server.url(), url);
  RpcClient client(OpenChannel(url));
  ExpectServes(client);
}

TEST(TransportTest, RefusesAPortInUseInOneLine) {
  ServerProcess server = ServerProcess::Start({"--ws-auth", "none"});
  const Finished second = RunHoldfast({"exec-server", "--listen", server.url()});
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_EQ(second.out, "");
  EXPECT_THAT(second.err, MatchesRegex("holdfast: bind [^\n]*: Address already in use\n"));
}

TEST(TransportTest, ListensOnIpv6) {
  if (!HasIpv6Loopback()) GTEST_SKIP() << "this machine has no ::1";
  ServerProcess server = ServerProcess::Start({"--listen", "ws://[::1]:0"});
  EXPECT_THAT(server.url(), MatchesRegex("ws://\\[::1\\]:[1-9][0-9]+/[0-9a-f]+"));
  RpcClient client(OpenChannel(server.url()));
  ExpectServes(client);
}

TEST(TransportTest, ServesWebSocketAndLinesOnOneUnixSocket) {
  TempDir dir;
  const std::string url = "unix://" + dir.Path("socket");
  ServerProcess server = ServerProcess::Start({"--listen", url});
  EXPECT_EQ(server.url(), url);
  auto web_socket = ConnectReady(url);  // the product's client speaks lines on a unix socket
  SendRequest(web_socket, 2, "process/list", "{}");
  EXPECT_TRUE(Message(web_socket.ReceiveText()).Has("result"));
  RpcClient lines(OpenChannel(url));
  ExpectServes(lines);
}

TEST(TransportTest, ServesOnStdio) {
  ServerProcess server = ServerProcess::StartOnStdio();
  RpcClient client(OpenPipes(server.input(), server.output()));
  ExpectServes(client);
  server.Stop();
}

TEST(TransportTest, ServesOnStdioUnderItsOtherName) {
  ServerProcess server = ServerProcess::Launch({"exec-server", "--listen", "stdio://"});
  RpcClient client(OpenPipes(server.input(), server.output()));
  ExpectServes(client);
}

TEST(TransportTest, SkipsBlankLinesAndGoesOnAfterABadOne) {
  ServerProcess server = ServerProcess::StartOnStdio();
  RpcClient client(OpenPipes(server.input(), server.output()));
  client.channel().Send("");
  client.channel().Send("  \t\r");
  client.channel().Send("what?");
  EXPECT_EQ(client.Await(-1).error_code(), -32600);
  ExpectServes(client);
}

TEST(TransportTest, EndsWithStandardInputAndKillsItsProcesses) {
  ServerProcess server = ServerProcess::StartOnStdio();
  RpcClient client(OpenPipes(server.input(), server.output()));
  client.Handshake();
  client.Start(Shell("p", "trap '' TERM HUP; setsid sleep 1000 & echo ready; sleep 1000"));
  client.WaitForOutput("p", "ready");
  server.CloseInput();
  EXPECT_EQ(server.WaitForExit(), 0) << server.Stderr();
  EXPECT_TRUE(LivingWithVariable(RunMarker()).empty());
}

TEST(TransportTest, RefusesABadAddressInOneLine) {
  for (const char* url : {"", "ws://", "ws://localhost:0", "ws://127.0.0.1", "ws://127.0.0.1:0/",
                          "ws://127.0.0.1:65536", "ws://127.0.0.1:-1", "ws://[::1:0", "wss://127.0.0.1:0",
                          "http://127.0.0.1:0", "unix://x", "unix://", "unix:///no/such/directory/socket", "stdin"}) {
    const Finished run = RunHoldfast({"exec-server", "--listen", url});
    EXPECT_EQ(run.exit_code, std::string_view(url) == "unix:///no/such/directory/socket" ? 1 : 2) << url;
    EXPECT_EQ(run.out, "") << url;
    EXPECT_THAT(run.err, MatchesRegex("holdfast: [^\n]+\n")) << url;
  }
}

TEST(TransportTest, RefusesToServeOtherMachinesUnlessToldTo) {
  for (const char* url : {"ws://0.0.0.0:0", "ws://[::]:0", "ws://192.0.2.1:0"}) {
    const Finished run = RunHoldfast({"exec-server", "--listen", url});
    EXPECT_EQ(run.exit_code, 2) << url;
    EXPECT_EQ(run.out, "") << url;
    EXPECT_THAT(run.err, MatchesRegex("holdfast: [^\n]*--insecure-no-auth[^\n]*\n")) << url;
  }
  ServerProcess server = ServerProcess::Start({"--listen", "ws://0.0.0.0:0", "--insecure-no-auth"});
  EXPECT_THAT(server.url(), StartsWith("ws://0.0.0.0:"));
  RpcClient client(OpenChannel("ws://127.0.0.1" + server.url().substr(server.url().rfind(':'))));
  ExpectServes(client);
}

TEST(TransportTest, AnswersProbes) {
  ServerProcess server = ServerProcess::Start();
  for (const char* path : {"/readyz", "/healthz"}) {
    const std::string head = std::string(" ") + path + " HTTP/1.1\r\nHost: x\r\n";
    EXPECT_THAT(Ask(server.url(), "GET" + head + "\r\n"), StartsWith("HTTP/1.1 200 ")) << path;
    EXPECT_THAT(Ask(server.url(), "HEAD" + head + "\r\n"), StartsWith("HTTP/1.1 200 ")) << path;
    EXPECT_THAT(Ask(server.url(), "POST" + head + "\r\n"), StartsWith("HTTP/1.1 405 ")) << path;
    EXPECT_THAT(Ask(server.url(), "GET" + head + "Origin: http://evil\r\n\r\n"), StartsWith("HTTP/1.1 403 ")) << path;
  }
}

TEST(TransportTest, RefusesABrowserAndAnotherPath) {
  ServerProcess server = ServerProcess::Start({"--ws-auth", "none"});
  EXPECT_THAT(Ask(server.url(), WebSocketClient::UpgradeRequest("/", "Origin: null\r\n")), StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(Ask(server.url(), WebSocketClient::UpgradeRequest("/other")), StartsWith("HTTP/1.1 404 "));
}

TEST(TransportTest, AnswersBinaryFramesWithText) {
  ServerProcess server = ServerProcess::Start();
  auto client = WebSocketClient::Connect(server.url());
  client.SendBinary(R"({"id":1,"method":"initialize","params":{"clientName":"binary"}})");
  const Received received = client.Receive();
  EXPECT_EQ(received.kind, Kind::kText);
  EXPECT_THAT(received.payload, StartsWith(R"({"id":1,"result":{"sessionId":)"));
}

TEST(TransportTest, CompletesTheClosingHandshake) {
  ServerProcess server = ServerProcess::Start();
  auto client = WebSocketClient::Connect(server.url());
  client.SendClose(1000, "bye");
  EXPECT_EQ(client.ReceiveCloseCode(), 1000);
  EXPECT_EQ(client.Receive().kind, Kind::kEof);
}

// Receives two messages, the answer to a write and an output in either order, and returns the output.
std::string ReceiveEcho(WebSocketClient& client) {
  const Message first(client.ReceiveText()), second(client.ReceiveText());
  return (first.Has("method") ? first : second).Bytes("params.chunk");
}

// An ordinary client leaves Nagle's algorithm on, as the product's own client does not, so no answer that it waits for
// may depend on a delayed acknowledgement.
TEST(TransportTest, EchoesAWriteWithoutADelay) {
  ServerProcess server = ServerProcess::Start();
  auto client = ConnectReady(server.url());
  SendRequest(client, 2, "process/start", StartRequest{.id = "cat", .argv = {"cat"}, .pipe_stdin = true}.Params());
  client.ReceiveText();
  std::vector<std::chrono::steady_clock::duration> round_trips;
  for (int i = 0; i < 51; ++i) {
    const std::string line = "line " + std::to_string(i) + "\n";
    const auto begin = std::chrono::steady_clock::now();
    SendRequest(client, 3 + i, "process/write", WriteParams("cat", line));
    EXPECT_EQ(ReceiveEcho(client), line);
    round_trips.push_back(std::chrono::steady_clock::now() - begin);
  }
  // A busy machine slows down some of the round trips, and a delayed acknowledgement all of them.
  std::ranges::nth_element(round_trips, round_trips.begin() + 12);
  EXPECT_LT(round_trips[12], 20ms);
}

// Returns a request of about `bytes`, which is answered with -32601.
std::string LongRequest(size_t bytes) {
  return R"({"id":1,"method":"x","params":")" + std::string(bytes, 'x') + R"("})";
}

void SendFragmented(WebSocketClient& client, std::string_view message, size_t fragment_bytes) {
  for (Opcode opcode = Opcode::kText; !message.empty(); opcode = Opcode::kContinuation) {
    const std::string part(message.substr(0, fragment_bytes));
    message.remove_prefix(part.size());
    if (!client.SendFrame({.fin = message.empty(), .opcode = opcode, .payload = part})) return;
  }
}

TEST(TransportTest, TakesAMessageThatIsLongerThanTheLongestFrame) {
  ServerProcess server = ServerProcess::Start();
  auto client = WebSocketClient::Connect(server.url());
  SendFragmented(client, LongRequest(18u << 20), 9u << 20);
  EXPECT_EQ(Message(client.ReceiveText()).error_code(), -32601);
}

TEST(TransportTest, HangsUpOnAFrameOfMoreThan16MiB) {
  ServerProcess server = ServerProcess::Start();
  auto client = WebSocketClient::Connect(server.url());
  // The client sends only the head of a frame: text, final, masked, a length of 16 MiB + 1.
  client.SendRaw(std::string("\x81\xff\x00\x00\x00\x00\x01\x00\x00\x01mask", 14));
  EXPECT_EQ(client.ReceiveCloseCode(), 1009);
}

TEST(TransportTest, ObeysTheConfiguredFrameLimit) {
  ServerProcess server = ServerProcess::Start({"--max-frame-bytes", "2048"});
  auto small = WebSocketClient::Connect(server.url());
  SendFragmented(small, LongRequest(5000), 2048);
  EXPECT_EQ(Message(small.ReceiveText()).error_code(), -32601);
  auto large = WebSocketClient::Connect(server.url());
  large.SendText(LongRequest(2048));
  EXPECT_EQ(large.ReceiveCloseCode(), 1009);
}

TEST(TransportTest, ObeysTheConfiguredMessageLimit) {
  ServerProcess server = ServerProcess::Start({"--max-message-bytes", "8192"});
  auto small = WebSocketClient::Connect(server.url());
  small.SendText(LongRequest(8000));
  EXPECT_EQ(Message(small.ReceiveText()).error_code(), -32601);
  auto large = WebSocketClient::Connect(server.url());
  SendFragmented(large, LongRequest(8192), 1024);
  EXPECT_EQ(large.ReceiveCloseCode(), 1009);
}

TEST(TransportTest, HangsUpOnALineThatIsTooLong) {
  TempDir dir;
  ServerProcess server =
      ServerProcess::Start({"--listen", "unix://" + dir.Path("socket"), "--max-message-bytes", "8192"});
  RpcClient client(OpenChannel(server.url()));
  client.channel().Send(LongRequest(8192));
  EXPECT_TRUE(client.WaitForEnd());
}

TEST(TransportTest, FragmentsALongAnswer) {
  ServerProcess server = ServerProcess::Start({"--retained-output-bytes-per-process", "16777216"});
  auto client = ConnectReady(server.url());
  SendRequest(client, 2, "process/start",
              StartRequest{.id = "zeros", .argv = {"head", "-c", "12582912", "/dev/zero"}}.Params());
  std::string event = "none";
  while (!event.empty() && !event.contains("process/closed")) event = client.ReceiveText(30s);
  SendRequest(client, 3, "process/read", IdParams("zeros"));
  const Received answer = client.Receive(30s);
  EXPECT_EQ(answer.kind, Kind::kText);
  EXPECT_GT(answer.payload.size(), 16u << 20);
  EXPECT_GE(answer.fragments, 2u);
}

}  // namespace
}  // namespace holdfast::support
