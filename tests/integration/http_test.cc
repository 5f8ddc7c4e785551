// Tests of HTTP requests that the server makes for its client.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "support/eventually.h"
#include "support/http_server.h"
#include "support/proc.h"
#include "support/rpc_client.h"
#include "support/server_process.h"

namespace holdfast::support {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Params(std::string_view url, std::string_view more = "") {
  return fmt::format(R"({{"requestId":"r","method":"POST","url":{}{}{}}})", Quoted(url), more.empty() ? "" : ",", more);
}

constexpr char kStreamed[] = R"("streamResponse":true)";

// A body that never ends.
class Flood {
 public:
  void operator()(const HttpArrival&, HttpPeer& peer) {
    peer.Send("HTTP/1.1 200 OK\r\n\r\n");
    const std::string block(64u << 10, 'x');
    do {
      pollfd entry{.fd = peer.fd(), .events = POLLOUT, .revents = 0};
      if (::poll(&entry, 1, 300) == 0) held_back_ = true;
    } while (peer.Send(block));
  }

  bool held_back() const { return held_back_; }

 private:
  std::atomic<bool> held_back_ = false;
};

class HttpTest : public testing::Test {
 protected:
  // The tests do without a proxy of the machine, which could not reach the servers of the tests.
  HttpTest() {
    for (const char* name : {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"}) ::unsetenv(name);
  }
};

bool HasLoadedLibrary(pid_t pid) {
  const std::string maps = ReadProcFile(pid, "maps").value_or("");
  EXPECT_THAT(maps, HasSubstr("holdfast"));
  return maps.contains("libcurl");
}

TEST_F(HttpTest, MakesARequest) {
  HttpServer http(EchoRequest);
  ServerProcess server = ServerProcess::Start({.env = {"HOLDFAST_TEST_TOKEN=s3cret"}});
  RpcClient client = RpcClient::Ready(server.url());
  const Message answer =
      client.Call("http/request", Params(http.Url("/path"), R"("bodyBase64":"aGVsbG8=",)"
                                                            R"("headers":[{"name":"X-Token","value":"the ",)"
                                                            R"("valueEnvVar":"HOLDFAST_TEST_TOKEN"}])"));
  EXPECT_EQ(answer.Number("result.status"), 200);
  const std::string echo = answer.Bytes("result.bodyBase64");
  EXPECT_THAT(echo, StartsWith("POST /path\n"));
  EXPECT_THAT(echo, HasSubstr("\nx-token: the s3cret\n"));
  EXPECT_THAT(echo, EndsWith("\n\nhello"));
}

TEST_F(HttpTest, StreamsAResponse) {
  const std::string body(1'000'000, 'x');
  HttpServer http([&](const HttpArrival&, HttpPeer& peer) { peer.Answer(200, body); });
  ServerProcess server = ServerProcess::Start();
  RpcClient client = RpcClient::Ready(server.url());
  const int64_t id = client.Send("http/request", Params(http.Url(), kStreamed));
  const Message answer(client.channel().Receive(kPatience).value_or(""));
  EXPECT_EQ(answer.Number("id"), id);
  EXPECT_EQ(answer.Text("result.bodyBase64"), "");
  std::string streamed;
  bool done = false;
  for (int64_t seq = 1; !done; ++seq) {
    const auto received = client.channel().Receive(kPatience);
    ASSERT_TRUE(received);
    const Message delta(*received);
    EXPECT_EQ(delta.Text("method"), "http/request/bodyDelta");
    EXPECT_EQ(delta.Number("params.seq"), seq);
    EXPECT_TRUE(delta.IsNull("params.error")) << delta;
    streamed += delta.Bytes("params.deltaBase64");
    done = delta.Flag("params.done");
  }
  EXPECT_TRUE(streamed == body);
}

TEST_F(HttpTest, LoadsTheLibraryAtTheFirstRequest) {
  HttpServer http(EchoRequest);
  ServerProcess server = ServerProcess::Start();
  RpcClient client = RpcClient::Ready(server.url());
  EXPECT_EQ(client.Call("http/request", Params("ftp://127.0.0.1/")).error_code(), -32602);  // is not made
  client.Start(Shell("p", "echo text"));
  EXPECT_EQ(client.WaitForClosed("p"), "text\n");
  EXPECT_FALSE(HasLoadedLibrary(server.pid()));
  EXPECT_EQ(client.Call("http/request", Params(http.Url())).error_code(), 0);
  EXPECT_TRUE(HasLoadedLibrary(server.pid()));
}

TEST_F(HttpTest, HangsUpWithTheClient) {
  HttpServer http([](const HttpArrival&, HttpPeer& peer) { peer.AwaitHangUp(); });
  ServerProcess server = ServerProcess::Start();
  RpcClient client = RpcClient::Ready(server.url());
  client.Send("http/request", Params(http.Url()));
  ASSERT_TRUE(Eventually([&] { return !http.arrivals().empty(); }));
  client.Disconnect();
  EXPECT_TRUE(Eventually([&] { return http.open_connections() == 0; }));
}

TEST_F(HttpTest, HoldsTheHttpServerBackForAClientThatDoesNotReadAndNobodyElse) {
  Flood flood;
  HttpServer endless(std::ref(flood)), http(EchoRequest);
  ServerProcess server = ServerProcess::Start();
  RpcClient slow = RpcClient::Ready(server.url()), quick = RpcClient::Ready(server.url());
  slow.Send("http/request", Params(endless.Url(), kStreamed));
  EXPECT_TRUE(Eventually([&] { return flood.held_back(); }));
  EXPECT_EQ(quick.Call("http/request", Params(http.Url())).error_code(), 0);
  server.Stop();
  EXPECT_TRUE(Eventually([&] { return endless.open_connections() == 0; }));
}

}  // namespace
}  // namespace holdfast::support
