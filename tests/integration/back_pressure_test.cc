// A client that does not keep up slows down its own commands and no others, and memory stays bounded meanwhile.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/eventually.h"
#include "support/proc.h"
#include "support/rpc_client.h"
#include "support/server_process.h"

namespace holdfast::support {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

ServerProcess StartThrifty() { return ServerProcess::Start({.env = {ThriftySanitizer()}}); }

constexpr size_t kBoundKib = 64u << 10;  // far below what would pile up without back-pressure

// Returns how many bytes a process has written since its start.
uint64_t BytesWrittenBy(pid_t pid) {
  const std::string io = ReadProcFile(pid, "io").value_or("");
  const size_t at = io.find("wchar: ");
  return at == std::string::npos ? 0 : std::strtoull(io.c_str() + at + 7, nullptr, 10);
}

// Waits until the process has written nothing for a while, and returns how many bytes it has written.
uint64_t WaitForStall(pid_t pid) {
  uint64_t last = 0;
  auto since = Clock::now();
  const bool stalled = Eventually([&] {
    const uint64_t bytes = BytesWrittenBy(pid);
    if (std::exchange(last, bytes) != bytes) since = Clock::now();
    return last > 0 && Clock::now() - since > 300ms;
  });
  EXPECT_TRUE(stalled) << "still writing after " << last << " bytes";
  return last;
}

// Returns the pid of the process. process/started follows the answer at once, so hardly any output is read to get the
// pid.
pid_t StartWriter(RpcClient& client, const std::string& id, std::vector<std::string> argv) {
  client.Start({.id = id, .argv = std::move(argv)});
  return static_cast<pid_t>(client.WaitForNotification("process/started", id).Number("params.pid"));
}

RpcClient Announced(const std::string& url) { return RpcClient::Ready(url, R"("capabilities":{"lifecycle":true})"); }

std::chrono::milliseconds MedianRoundTrip(RpcClient& client) {
  std::vector<Clock::duration> times;
  for (int i = 0; i < 31; ++i) {
    const auto begin = Clock::now();
    client.Call("process/list");
    times.push_back(Clock::now() - begin);
  }
  std::ranges::sort(times);
  return std::chrono::duration_cast<std::chrono::milliseconds>(times[15]);
}

TEST(BackPressureTest, AClientThatDoesNotReadStopsTheProcessAndNobodyElse) {
  ServerProcess server = StartThrifty();
  RpcClient slow = Announced(server.url()), quick = RpcClient::Ready(server.url());
  const size_t before = ResidentKib(server.pid());
  const pid_t pid = StartWriter(slow, "zeros", {"head", "-c", "300000000", "/dev/zero"});
  EXPECT_LT(WaitForStall(pid), 64u << 20);
  EXPECT_LT(ResidentKib(server.pid()), before + kBoundKib);

  EXPECT_LT(MedianRoundTrip(quick), 1s);
  quick.Start(Shell("p", "echo quick"));
  EXPECT_EQ(quick.WaitForClosed("p"), "quick\n");
  EXPECT_LT(ResidentKib(server.pid()), before + kBoundKib);
}

TEST(BackPressureTest, EveryByteArrivesInOrderOnceTheClientReadsAgain) {
  ServerProcess server = ServerProcess::Start();
  RpcClient client = Announced(server.url());
  const pid_t pid = StartWriter(client, "seq", {"seq", "3000000"});
  WaitForStall(pid);
  const std::string output = client.WaitForClosed("seq", 60s);
  std::string expected;
  for (int i = 1; i <= 3'000'000; ++i) expected.append(std::to_string(i)).push_back('\n');
  EXPECT_TRUE(output == expected) << output.size() << " bytes instead of " << expected.size();
  EXPECT_EQ(client.WaitForExit("seq"), 0);
}

TEST(BackPressureTest, ADetachedSessionLetsTheProcessRunOn) {
  ServerProcess server = ServerProcess::Start();
  TempDir dir;
  RpcClient client = Announced(server.url());
  client.Start(Shell("p", "head -c 50000000 /dev/zero; echo end; touch " + dir.Path("done") + "; sleep 1000"));
  client.Disconnect();
  EXPECT_TRUE(Eventually([&] { return ::access(dir.Path("done").c_str(), F_OK) == 0; }, 30s));
  RpcClient resumed = RpcClient::Resumed(server.url(), client.session_id());
  const Message snapshot = resumed.Call("process/snapshot", IdParams("p"));
  EXPECT_TRUE(snapshot.Bytes("result.stdout").ends_with(std::string(1, '\0') + "end\n"));
}

TEST(BackPressureTest, AStalledProcessRunsOnWhenItsClientLeaves) {
  ServerProcess server = ServerProcess::Start();
  RpcClient client = Announced(server.url());
  const pid_t pid = StartWriter(client, "zeros", {"head", "-c", "100000000", "/dev/zero"});
  WaitForStall(pid);
  client.Disconnect();
  EXPECT_TRUE(Eventually([&] { return !IsAlive(pid); }, 30s)) << "stalled at " << BytesWrittenBy(pid);
}

TEST(BackPressureTest, AStalledProcessCanBeTerminatedFromElsewhere) {
  ServerProcess server = ServerProcess::Start({"--detached-ttl-ms", "0"});
  RpcClient client = Announced(server.url());
  const pid_t pid = StartWriter(client, "yes", {"yes"});
  WaitForStall(pid);
  client.Disconnect();
  EXPECT_TRUE(Eventually([&] { return !IsAlive(pid); }));
}

TEST(BackPressureTest, AClientThatDoesNotReadItsAnswersIsNotReadEither) {
  ServerProcess server = StartThrifty();
  RpcClient client = RpcClient::Ready(server.url());
  client.Start({.id = "zeros", .argv = {"head", "-c", "1000000", "/dev/zero"}});
  client.WaitForClosed("zeros");
  const size_t before = ResidentKib(server.pid());
  std::vector<int64_t> reads;
  for (int i = 0; i < 200; ++i) reads.push_back(client.Send("process/read", IdParams("zeros")));
  RpcClient other = RpcClient::Ready(server.url());
  EXPECT_LT(MedianRoundTrip(other), 1s);
  EXPECT_LT(ResidentKib(server.pid()), before + kBoundKib);
  for (const int64_t id : reads) ASSERT_GT(client.Await(id).Size("result.chunks"), 0u);
}

TEST(BackPressureTest, ManyLargeMessagesDoNotAddUp) {
  ServerProcess server = StartThrifty();
  RpcClient client = RpcClient::Ready(server.url());
  client.Start(Shell("sink", "cat > /dev/null", Stdin::kPipe));
  const std::string block(100'000, 'x');
  client.Write("sink", block);
  const size_t before = ResidentKib(server.pid());
  for (int i = 0; i < 100; ++i) client.Write("sink", block);
  EXPECT_LT(ResidentKib(server.pid()), before + kBoundKib);
}

}  // namespace
}  // namespace holdfast::support
