// Tests of a session that several clients share, on real sockets.
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "support/rpc_client.h"
#include "support/server_process.h"

namespace holdfast::support {
namespace {

constexpr size_t kWritten = 64u << 20;
constexpr char kShared[] = R"("shared":true,"sessionName":"s")";

// Returns a connection that has done the handshake and reads nothing by itself.
std::unique_ptr<Channel> Join(std::string_view url) {
  std::unique_ptr<Channel> channel = OpenChannel(url);
  EXPECT_TRUE(
      channel->Send(std::string(R"({"id":1,"method":"initialize","params":{"clientName":"raw",)") + kShared + "}}"));
  EXPECT_TRUE(channel->Receive(kPatience));
  EXPECT_TRUE(channel->Send(R"({"method":"initialized"})"));
  return channel;
}

// The numbers that a client was told about one process.
struct Told {
  int64_t next_seq = 1;
  int64_t lost = 0, chunks = 0;
  bool closed = false;
};

// Reads the messages of an observer until the process has closed. Every number must come once and in order, as an event
// or as part of a loss.
Told ReadUntilClosed(Channel& channel) {
  Told told;
  while (!told.closed) {
    const auto received = channel.Receive(kPatience);
    if (!received) {
      ADD_FAILURE() << "expected a message, and none came";
      return told;
    }
    const Message message(*received);
    const std::string method = message.Has("method") ? message.Text("method") : "";
    if (method == "process/outputLost") {
      EXPECT_EQ(message.Number("params.fromSeq"), told.next_seq);
      told.lost += message.Number("params.toSeq") - told.next_seq + 1;
      told.next_seq = message.Number("params.toSeq") + 1;
    } else if (!method.empty()) {
      EXPECT_EQ(message.Number("params.seq"), told.next_seq++);
      if (method == "process/output") ++told.chunks;
      told.closed = method == "process/closed";
    }
  }
  return told;
}

// The reader stays as close to the driver as it can, so that 16 MiB of retained output are always enough for it. The
// sleeper reads nothing until the process has closed.
TEST(WatchedSessionTest, ServesOthersWhileAnObserverDoesNotRead) {
  ServerProcess server = ServerProcess::Start({"--retained-output-bytes-per-process", std::to_string(16u << 20)});
  RpcClient driver = RpcClient::Ready(server.url(), kShared), reader = RpcClient::Ready(server.url(), kShared);
  const std::unique_ptr<Channel> sleeper = Join(server.url());
  driver.Start(Shell("p", "head -c " + std::to_string(kWritten) + " /dev/zero"));
  while (driver.OutputBytes("p") < kWritten) {
    ASSERT_TRUE(driver.Pump(kPatience));
    while (reader.OutputBytes("p") < driver.OutputBytes("p")) ASSERT_TRUE(reader.Pump(kPatience));
  }
  EXPECT_EQ(driver.WaitForClosed("p").size(), kWritten);
  EXPECT_EQ(reader.WaitForClosed("p").size(), kWritten);

  const Told told = ReadUntilClosed(*sleeper);
  EXPECT_GT(told.lost, 0);
  EXPECT_GT(told.chunks, 0);
  EXPECT_EQ(driver.Call("process/read", IdParams("p")).Number("result.nextSeq"), told.next_seq);
}

TEST(WatchedSessionTest, IsClosedAfterItsEnd) {
  ServerProcess server = ServerProcess::Start();
  const std::unique_ptr<Channel> member = Join(server.url());
  RpcClient outsider = RpcClient::Ready(server.url());
  EXPECT_EQ(outsider.Call("session/end", R"({"sessionName":"s"})").error_code(), 0);
  const auto last = member->Receive(kPatience);
  ASSERT_TRUE(last);
  EXPECT_EQ(Message(*last).Text("method"), "session/ended");
  EXPECT_FALSE(member->Receive(kPatience));
  EXPECT_TRUE(member->ended());
  EXPECT_EQ(outsider.Call("session/list").Size("result.sessions"), 1u);
}

}  // namespace
}  // namespace holdfast::support
