// Tests with many sandboxed processes at once, and of the time that one of them takes.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/sandboxed_fixture.h"
#include "support/eventually.h"
#include "support/proc.h"

namespace holdfast::support {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;
using Clock = std::chrono::steady_clock;

constexpr int kConnections = 20, kProcessesEach = 5;
constexpr auto kLongPatience = 60s;

// A tenant is one client with its directory and its commands, each of which waits for a line.
class Tenant {
 public:
  explicit Tenant(const ServerProcess& server) : client_(RpcClient::Ready(server.url())) {}

  void SendStarts() {
    for (int number = 0; number < kProcessesEach; ++number) {
      StartRequest request =
          Shell(Id(number), fmt::format("mkdir .git/x 2>/dev/null && exit 99; (setsid sleep 1000 &); "
                                        "echo up; read -r line; : > done.{0}; exit {0}",
                                        number));
      request.pipe_stdin = true;
      request.cwd = workspace_.path();
      request.more = Sandbox(WorkspaceWrite());
      starts_.push_back(client_.Send("process/start", request.Params()));
    }
  }
  void AwaitAll() {
    for (const int64_t start : starts_) EXPECT_TRUE(client_.Await(start, kLongPatience).Has("result"));
    for (int number = 0; number < kProcessesEach; ++number) client_.WaitForOutput(Id(number), "up\n", kLongPatience);
  }
  void Finish() {
    for (int number = 0; number < kProcessesEach; ++number) client_.Write(Id(number), "go\n");
    for (int number = 0; number < kProcessesEach; ++number) {
      const Message exited = client_.WaitForNotification("process/exited", Id(number), kLongPatience);
      EXPECT_EQ(exited.Number("params.exitCode"), number);
    }
  }
  void Disconnect() { client_.Disconnect(); }

  // Returns the names in the workspace, without those that the commands made themselves.
  std::vector<std::string> Leftovers() const {
    std::vector<std::string> names = NamesIn(workspace_.path());
    std::erase_if(names, [](const std::string& name) { return name.starts_with("done."); });
    return names;
  }
  size_t finished() const { return NamesIn(workspace_.path()).size() - Leftovers().size(); }
  const std::string& path() const { return workspace_.path(); }

 private:
  static std::string Id(int number) { return "p" + std::to_string(number); }

  ScratchDir workspace_;
  RpcClient client_;
  std::vector<int64_t> starts_;
};

class SandboxedLoadTest : public SandboxedFixture {};

TEST_F(SandboxedLoadTest, HalfOfAHundredAreLostWithTheirConnections) {
  ServerProcess server = ServerProcess::Start({"--detached-ttl-ms", "0"});
  const size_t fds_before = CountFds(server.pid());
  std::vector<std::unique_ptr<Tenant>> tenants;
  for (int number = 0; number < kConnections; ++number) tenants.push_back(std::make_unique<Tenant>(server));
  for (auto& tenant : tenants) tenant->SendStarts();
  for (auto& tenant : tenants) tenant->AwaitAll();
  for (int number = 1; number < kConnections; number += 2) tenants[static_cast<size_t>(number)]->Disconnect();
  for (int number = 0; number < kConnections; number += 2) tenants[static_cast<size_t>(number)]->Finish();
  EXPECT_TRUE(Eventually([] { return LivingWithVariable(RunMarker()).empty(); }, kLongPatience))
      << LivingWithVariable(RunMarker()).size();
  for (int number = 0; number < kConnections; ++number) {
    const Tenant& tenant = *tenants[static_cast<size_t>(number)];
    EXPECT_TRUE(Eventually([&] { return tenant.Leftovers().empty(); })) << testing::PrintToString(tenant.Leftovers());
    EXPECT_EQ(tenant.finished(), number % 2 == 0 ? kProcessesEach : 0);
    EXPECT_THAT(Mounts(), Not(HasSubstr(tenant.path())));
  }
  tenants.clear();
  EXPECT_TRUE(Eventually([&] { return CountFds(server.pid()) <= fds_before; })) << CountFds(server.pid());
}

// A client asks its user for an approval only if it knows of the denial 150 ms after it asked for the start.
TEST_F(SandboxedLoadTest, AShortCommandTakesLittleTime) {
  constexpr int kRounds = 21;
  std::vector<Clock::duration> times;
  for (int round = 0; round < kRounds; ++round) {
    const StartRequest request = InSandbox({.id = std::to_string(round), .argv = {"/bin/true"}}, WorkspaceWrite());
    const auto begin = Clock::now();
    client_.Start(request);
    client_.WaitForExit(request.id);
    times.push_back(Clock::now() - begin);
  }
  std::ranges::sort(times);
  EXPECT_LT(times[kRounds / 2], IsSanitized() ? 1500ms : 150ms);
}

}  // namespace
}  // namespace holdfast::support
