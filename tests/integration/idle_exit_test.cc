// Tests of --exit-when-idle-ms.
#include <chrono>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/eventually.h"
#include "support/proc.h"
#include "support/rpc_client.h"
#include "support/server_process.h"

namespace holdfast::support {
namespace {

using namespace std::chrono_literals;

ServerProcess StartWithLimit(const std::string& limit_ms, const std::string& ttl_ms = "30000") {
  return ServerProcess::Start({"--exit-when-idle-ms", limit_ms, "--detached-ttl-ms", ttl_ms});
}

TEST(IdleExitTest, EndsAServerThatNobodyUses) {
  ServerProcess server = StartWithLimit("100");
  EXPECT_EQ(server.WaitForExit(), 0) << server.Stderr();
}

TEST(IdleExitTest, AConnectionKeepsTheServer) {
  ServerProcess server = StartWithLimit("100");
  RpcClient client = RpcClient::Ready(server.url());
  EXPECT_FALSE(server.WaitForExit(500ms).has_value());
  client.Disconnect();
  EXPECT_EQ(server.WaitForExit(), 0) << server.Stderr();
}

TEST(IdleExitTest, AProcessKeepsTheServerWhileItLives) {
  ServerProcess server = StartWithLimit("100");
  TempDir dir;
  {
    RpcClient client = RpcClient::Ready(server.url());
    client.Start(Shell("p", "until [ -e " + dir.Path("go") + " ]; do sleep 0.01; done"));
    client.Disconnect();
  }
  EXPECT_FALSE(server.WaitForExit(500ms).has_value());
  std::ofstream(dir.Path("go")).flush();
  EXPECT_EQ(server.WaitForExit(), 0) << server.Stderr();
}

TEST(IdleExitTest, TheTimeBeginsAnewAfterEachUse) {
  ServerProcess server = StartWithLimit("1500");
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(server.WaitForExit(500ms).has_value());
    RpcClient::Ready(server.url()).Disconnect();
  }
  EXPECT_EQ(server.WaitForExit(), 0) << server.Stderr();
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 3500ms);
}

}  // namespace
}  // namespace holdfast::support
