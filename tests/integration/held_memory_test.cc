// Tests that the memory which all clients together can make the server hold is bounded: unfinished messages, files that
// grow while they are read, bodies of HTTP responses, answers that clients do not read. Each test offers many times the
// bound and measures the memory of the server; meanwhile another client is served.
#include <poll.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "support/eventually.h"
#include "support/http_server.h"
#include "support/proc.h"
#include "support/rpc_client.h"
#include "support/scratch_dir.h"
#include "support/server_process.h"
#include "support/web_socket_client.h"

namespace holdfast::support {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using testing::HasSubstr;

constexpr size_t kMiB = 1u << 20;
constexpr size_t kHeldBytes = 64 * kMiB;
// The memory beyond the bound: what each connection may use without a permit, one message that is being moved or
// decoded, and what the allocator (and AddressSanitizer) keeps.
constexpr size_t kSlackBytes = 96 * kMiB;

// Sends as much as the peer accepts.
void OfferSome(int fd, std::string_view bytes, size_t& sent) {
  const ssize_t count = ::send(fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (count > 0) sent += static_cast<size_t>(count);
}

class HeldMemoryTest : public testing::Test {
 protected:
  static ServerProcess StartThrifty() {
    for (const char* name : {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"}) ::unsetenv(name);
    const std::vector<std::string> flags{"--max-held-bytes", std::to_string(kHeldBytes)};
    return ServerProcess::Start({.flags = flags, .env = {ThriftySanitizer()}});
  }

  size_t GrowthBytes() const { return (std::max(ResidentKib(server_.pid()), before_kib_) - before_kib_) * 1024; }

  // Waits until the memory of the server has grown noticeably, watches it for 2 s more, and returns the most that it
  // grew.
  size_t WatchMemory() {
    size_t most = 0;
    const auto note = [&] { return (most = std::max(most, GrowthBytes())) > kHeldBytes / 4; };
    EXPECT_TRUE(Eventually(note, 20s)) << "it took no more than " << most;
    for (const auto end = Clock::now() + 2s; Clock::now() < end; std::this_thread::sleep_for(5ms)) note();
    RecordProperty("most_mib", static_cast<int>(most / kMiB));
    return most;
  }

  WebSocketClient ConnectReady(std::string_view more_params = "") const {
    WebSocketClient client = WebSocketClient::Connect(server_.url());
    client.SendText(fmt::format(R"({{"id":1,"method":"initialize","params":{{"clientName":"test"{}{}}}}})",
                                more_params.empty() ? "" : ",", more_params));
    client.ReceiveText();
    client.SendText(R"({"method":"initialized"})");
    return client;
  }

  // Sends the same bytes from every client until the server reads no more. Returns the most that its memory grew
  // meanwhile.
  size_t OfferToAll(std::vector<WebSocketClient>& clients, std::string_view bytes) {
    std::vector<size_t> sent(clients.size());
    size_t most = 0, last = 0;
    for (auto moved_at = Clock::now(); Clock::now() - moved_at < 1s; std::this_thread::sleep_for(1ms)) {
      for (size_t i = 0; i < clients.size(); ++i) OfferSome(clients[i].socket().fd(), bytes, sent[i]);
      most = std::max(most, GrowthBytes());
      const size_t total = std::accumulate(sent.begin(), sent.end(), size_t{0});
      if (std::exchange(last, total) != total) moved_at = Clock::now();
    }
    RecordProperty("most_mib", static_cast<int>(most / kMiB));
    return most;
  }

  // Expects that a client with small requests is served as if nothing else were going on.
  void ExpectQuickAnswers() {
    for (int i = 0; i < 20; ++i) {
      const auto begin = Clock::now();
      EXPECT_EQ(bystander_.Call("process/list").error_code(), 0);
      EXPECT_LT(Clock::now() - begin, 1s);
    }
  }

  ServerProcess server_ = StartThrifty();
  RpcClient bystander_ = RpcClient::Ready(server_.url());
  const size_t before_kib_ = ResidentKib(server_.pid());
};

// Forty clients send 15 MiB of a message that has no end: 600 MiB.
TEST_F(HeldMemoryTest, UnfinishedMessagesOfManyConnections) {
  std::vector<WebSocketClient> clients;
  for (int i = 0; i < 40; ++i) clients.push_back(WebSocketClient::Connect(server_.url()));
  const size_t most = OfferToAll(clients, BuildFrame({.fin = false, .payload = std::string(15 * kMiB, 'x')}));
  ExpectQuickAnswers();
  EXPECT_GT(most, kHeldBytes / 2) << "they did not even fill the bound";
  RecordProperty("most_mib", static_cast<int>(most / kMiB));
  EXPECT_LT(most, kHeldBytes + kSlackBytes);

  // The server closes stalled connections to make room for a client with a long message, which is answered.
  WebSocketClient other = ConnectReady();
  const std::string pad(8 * kMiB, 'x');
  const std::string request =
      BuildFrame({.payload = R"({"id":2,"method":"process/list","params":{"pad":")" + pad + R"("}})"});
  const auto begin = Clock::now();
  size_t offered = 0;
  EXPECT_TRUE(Eventually(
      [&] {
        OfferSome(other.socket().fd(), request, offered);
        return offered == request.size();
      },
      40s));
  EXPECT_THAT(other.ReceiveText(30s), HasSubstr("processes"));
  RecordProperty("waited_ms", static_cast<int>((Clock::now() - begin) / 1ms));
  EXPECT_LT(GrowthBytes(), kHeldBytes + kSlackBytes);
}

// A Grower makes each file of a directory grow as soon as a process opens it.
class Grower {
 public:
  Grower(const std::string& directory, size_t bytes) : notify_(::inotify_init1(IN_CLOEXEC)) {
    EXPECT_GE(::inotify_add_watch(notify_.get(), directory.c_str(), IN_OPEN), 0);
    thread_ = std::thread([this, directory, bytes] {
      while (!stop_) GrowOpened(directory, bytes);
    });
  }
  ~Grower() {
    stop_ = true;
    thread_.join();
  }

 private:
  void GrowOpened(const std::string& directory, size_t bytes) const {
    pollfd entry{.fd = notify_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&entry, 1, 50) <= 0) return;
    alignas(inotify_event) char buffer[4096];
    const ssize_t count = ::read(notify_.get(), buffer, sizeof buffer);
    for (ssize_t at = 0; at < count;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
      (void)::truncate((directory + "/" + event->name).c_str(), static_cast<off_t>(bytes));  // the memory shows it
      at += static_cast<ssize_t>(sizeof *event + event->len);
    }
  }

  OwnedFd notify_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

// Twelve files have 1 MiB each when they are opened, and 100 MiB each when they are read: 1.6 GiB of base64.
TEST_F(HeldMemoryTest, FilesThatGrowAfterTheyWereOpened) {
  constexpr int kFiles = 12;
  ScratchDir dir;
  const auto path = [&](int i) { return fmt::format("{}/{}", dir.path(), i); };
  for (int i = 0; i < kFiles; ++i) std::ofstream(path(i)) << std::string(kMiB - 1, 'x');
  const Grower grower(dir.path(), 100 * kMiB);
  std::vector<RpcClient> clients;
  for (int i = 0; i < kFiles; ++i) clients.push_back(RpcClient::Ready(server_.url()));
  for (int i = 0; i < kFiles; ++i) clients[i].Send("fs/readFile", fmt::format(R"({{"path":"{}"}})", path(i)));
  const size_t most = WatchMemory();
  ExpectQuickAnswers();
  EXPECT_LT(most, kHeldBytes + kSlackBytes);
}

// Thirty responses of 16 MiB that stop before their end: 480 MiB.
TEST_F(HeldMemoryTest, WholeBodiesOfHttpResponses) {
  constexpr size_t kRequests = 30;
  HttpServer http([](const HttpArrival&, HttpPeer& peer) {
    peer.Send(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", 20 * kMiB));
    const std::string block(kMiB, 'x');
    for (int i = 0; i < 16 && peer.Send(block); ++i) {
    }
    peer.AwaitHangUp();
  });
  std::vector<RpcClient> clients;
  std::vector<int64_t> asked;
  for (size_t i = 0; i < kRequests; ++i) {
    clients.push_back(RpcClient::Ready(server_.url()));
    asked.push_back(
        clients[i].Send("http/request", fmt::format(R"({{"requestId":"r","method":"GET","url":"{}"}})", http.Url())));
  }
  const size_t most = WatchMemory();
  ExpectQuickAnswers();
  EXPECT_LT(most, kHeldBytes + kSlackBytes);
  size_t refused = 0;
  for (RpcClient& client : clients) {
    const auto message = client.channel().Receive(10ms);
    if (message && message->contains("max_held_bytes")) ++refused;
  }
  EXPECT_GT(refused, kRequests / 2);
}

// Forty connections with requests of 8 MiB for a process that takes no input: 320 MiB.
TEST_F(HeldMemoryTest, RequestsThatAreNeverOver) {
  std::vector<WebSocketClient> clients;
  for (int i = 0; i < 40; ++i) {
    WebSocketClient& client = clients.emplace_back(ConnectReady());
    client.SendText(
        R"({"id":2,"method":"process/start","params":{"processId":"p","argv":["/bin/sleep","1000"],"cwd":"/","env":{},)"
        R"("tty":false,"pipeStdin":true}})");
    ASSERT_THAT(client.ReceiveText(), HasSubstr("result"));
  }
  const std::string chunk = Base64(std::string(6 * kMiB, 'x'));
  const std::string write =
      R"({"id":3,"method":"process/write","params":{"processId":"p","chunk":")" + chunk + R"("}})";
  const size_t most = OfferToAll(clients, BuildFrame({.payload = write}));
  ExpectQuickAnswers();
  EXPECT_GT(most, kHeldBytes / 4) << "the requests did not come";
  EXPECT_LT(most, kHeldBytes + kSlackBytes);
}

// Forty clients ask for a list of 7 MiB and do not read it: 280 MiB. The sockets take some of it.
TEST_F(HeldMemoryTest, ListsThatAreNotRead) {
  constexpr std::string_view kShared = R"("shared":true,"sessionName":"s")";
  RpcClient driver = RpcClient::Ready(server_.url(), kShared);
  const std::string long_argument(4000, '\x01');  // each character is six bytes of JSON
  for (int i = 0; i < 240; ++i) driver.Start({.id = fmt::format("{}", i), .argv = {"/bin/true", long_argument}});
  std::vector<WebSocketClient> clients;
  for (const char* method : {"session/list", "process/list"}) {
    for (int i = 0; i < 18; ++i) {
      clients.push_back(ConnectReady(kShared));
      clients.back().SendText(fmt::format(R"({{"id":2,"method":"{}"}})", method));
    }
  }
  const size_t most = WatchMemory();
  EXPECT_EQ(bystander_.Call("process/list").error_code(), 0);
  EXPECT_LT(most, kHeldBytes + kSlackBytes);
}

}  // namespace
}  // namespace holdfast::support
