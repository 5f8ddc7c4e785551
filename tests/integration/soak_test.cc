// Hundreds of clients start, kill, leave and come back at random. In the end nothing of it all may be left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "support/eventually.h"
#include "support/proc.h"
#include "support/rpc_client.h"
#include "support/server_process.h"

namespace holdfast::support {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;

constexpr size_t kConnections = 200;
constexpr size_t kProcesses = 2'500;
constexpr size_t kLivingPerClient = 2;
constexpr size_t kGrowthKib = 24u << 10;
constexpr size_t kSanitizedGrowthKib = 256u << 10;  // freed memory is held back

unsigned Seed() {
  const char* given = std::getenv("HOLDFAST_SOAK_SEED");
  return given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : 20'261'115;
}

class Soak {
 public:
  explicit Soak(unsigned seed) : random_(seed) {
    for (size_t i = 0; i < kConnections; ++i) clients_.push_back({RpcClient::Ready(server_.url()), {}});
  }

  void Run() {
    while (started_ < kProcesses) Act(clients_[Below(clients_.size())]);
  }
  void DisconnectAll() { clients_.clear(); }
  ServerProcess& server() { return server_; }

 private:
  struct Client {
    RpcClient rpc;
    std::vector<std::string> living;  // started, and not known to end by themselves
  };

  size_t Below(size_t bound) { return std::uniform_int_distribution<size_t>(0, bound - 1)(random_); }

  void Act(Client& client) {
    const size_t dice = Below(100);
    if (client.living.size() >= kLivingPerClient) {
      EndOne(client);
    } else if (dice < 60) {
      StartOne(client);
    } else if (dice < 75 && !client.living.empty()) {
      EndOne(client);
    } else if (dice < 85 && !client.living.empty()) {
      Disturb(client);
    } else if (dice < 92) {
      Reconnect(client, dice % 2 == 0);
    } else if (dice < 93) {
      KillAKeeper();
    }
    client.rpc.Drain();
  }

  void StartOne(Client& client) {
    const std::string id = "p" + std::to_string(++started_);
    const size_t kind = Below(10);
    if (kind < 5) {  // ends by itself
      const std::vector<std::string> scripts = {"echo hello; echo err >&2; exit 3", "head -c 200000 /dev/zero", "true",
                                                "sleep 0.05; echo late", "(sleep 0.1; echo later) & exit 0"};
      client.rpc.Send("process/start", Shell(id, scripts[kind]).Params());
      return;
    }
    client.living.push_back(id);
    const std::vector<std::string> scripts = {"cat", "sleep 1000", "trap '' TERM; setsid sleep 1000 & wait; sleep 1000",
                                              "yes", "cat"};
    StartRequest request = Shell(id, scripts[kind - 5], Stdin::kPipe);
    request.tty = kind == 9;
    client.rpc.Send("process/start", request.Params());
  }

  void EndOne(Client& client) {
    const size_t index = Below(client.living.size());
    const std::string id = client.living[index];
    client.living.erase(client.living.begin() + static_cast<ptrdiff_t>(index));
    const std::vector<std::string> modes = {"", R"("mode":"force")", R"("mode":{"graceful":{"timeoutMs":20}})"};
    if (Below(4) == 0) client.rpc.Send("process/signal", IdParams(id, R"("signal":"SIGKILL")"));
    client.rpc.Send("process/terminate", IdParams(id, modes[Below(modes.size())]));
  }

  void Disturb(Client& client) {
    const std::string& id = client.living[Below(client.living.size())];
    client.rpc.Send("process/write", WriteParams(id, "line\n"));
    client.rpc.Send("process/resize", IdParams(id, R"("rows":10,"cols":20)"));
    client.rpc.Send("process/read", IdParams(id, R"("waitMs":100)"));
    client.rpc.Send("process/wait", IdParams(id));
    client.rpc.Send("process/snapshot", IdParams(id));
  }

  // Reconnects a client, with or without its session. A session that has expired in between has ended its processes.
  void Reconnect(Client& client, bool resume) {
    const std::string session_id = client.rpc.session_id();
    client.rpc.Disconnect();
    client.rpc = RpcClient(OpenChannel(server_.url()));
    const bool resumed = resume && client.rpc.Initialize(R"("resumeSessionId":)" + Quoted(session_id)).Has("result");
    if (resumed) return client.rpc.Notify("initialized");
    client.living.clear();
    client.rpc = RpcClient::Ready(server_.url());
  }

  void KillAKeeper() {
    const std::vector<pid_t> keepers = ChildrenOf(server_.pid());
    if (!keepers.empty()) ::kill(keepers[Below(keepers.size())], SIGKILL);
  }

  std::mt19937 random_;
  ServerProcess server_ = ServerProcess::Start(
      {.flags = {"--exited-retention-ms", "100", "--detached-ttl-ms", "150", "--log-level", "warn"},
       .env = {ThriftySanitizer()}});
  std::vector<Client> clients_;
  size_t started_ = 0;
};

void RunOneProcess(const std::string& url) {
  RpcClient client = RpcClient::Ready(url);
  client.Start(Shell("p", "echo well"));
  EXPECT_EQ(client.WaitForClosed("p"), "well\n");
}

TEST(SoakTest, LeavesNothingBehind) {
  const unsigned seed = Seed();
  std::cout << "HOLDFAST_SOAK_SEED=" << seed << std::endl;
  RecordProperty("seed", static_cast<int>(seed));
  Soak soak(seed);
  const pid_t pid = soak.server().pid();
  const size_t fds_with_clients = CountFds(pid), resident_kib = ResidentKib(pid);

  soak.Run();
  soak.DisconnectAll();

  EXPECT_TRUE(Eventually([&] { return ChildrenOf(pid).empty(); }, 30s)) << testing::PrintToString(ChildrenOf(pid));
  EXPECT_THAT(LivingWithVariable(RunMarker()), IsEmpty());
  EXPECT_TRUE(Eventually([&] { return CountFds(pid) <= fds_with_clients - kConnections; }))
      << CountFds(pid) << " descriptors, " << fds_with_clients << " with all clients";
  const size_t bound_kib = resident_kib + (IsSanitized() ? kSanitizedGrowthKib : kGrowthKib);
  EXPECT_TRUE(Eventually([&] { return ResidentKib(pid) < bound_kib; }))
      << ResidentKib(pid) << " KiB resident, " << resident_kib << " KiB at the start";
  RunOneProcess(soak.server().url());
}

}  // namespace
}  // namespace holdfast::support
