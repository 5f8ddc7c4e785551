// A rendezvous of two nodes, NATS, an executor and a client, each on a host of its own, while links, nodes and NATS
// fail. A command on the executor writes numbered lines. The client has to print each line once and in order.
#include <csignal>
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random_id.h"
#include "base/sha256.h"
#include "support/eventually.h"
#include "support/required_program.h"
#include "support/scratch_dir.h"
#include "support/test_certificate.h"
#include "support/test_network.h"

namespace holdfast::support {
namespace {

using Machine = TestNetwork::Machine;

constexpr std::chrono::milliseconds kStartPatience(30'000);
constexpr std::chrono::milliseconds kRegisterPatience(20'000);  // clients wait for their executor for 25 s

std::string DigestOf(std::string_view text) {
  Sha256 digest;
  digest.Update(std::as_bytes(std::span(text)));
  return digest.HexDigest();
}

std::string LinesUpTo(int count) {
  std::string lines;
  for (int number = 0; number < count; ++number) lines += fmt::format("line {}\n", number);
  return lines;
}

class RendezvousHostsTest : public testing::Test {
 protected:
  static constexpr std::string_view kName = "rv.test";

  void SetUp() override {
    if (!RequireProgram("nats-server") || !RequireProgram("curl") || !RequireAvailable(network_.why_not())) {
      GTEST_SKIP();
    }
    for (Machine** machine : {&nats_host_, &first_host_, &second_host_, &executor_host_, &client_host_}) {
      *machine = &network_.Add();
    }
    network_.SetName(kName, {first_host_, second_host_});
    dir_.Write("executor.token", executor_token_, 0600);
    dir_.Write("client.token", client_token_, 0600);
    dir_.Write("tokens.toml", fmt::format("[[executor]]\nids = [\"*\"]\ntoken_sha256 = \"{}\"\n"
                                          "[[client]]\nids = [\"*\"]\ntoken_sha256 = \"{}\"\n",
                                          DigestOf(executor_token_), DigestOf(client_token_)));
    StartNats();
    first_ = StartNode(*first_host_);
    second_ = StartNode(*second_host_);
  }

  std::string File(std::string_view name) const { return fmt::format("{}/{}", dir_.path(), name); }

  static std::unique_ptr<Program> StartOn(const Machine& machine, const std::vector<std::string>& words) {
    return std::unique_ptr<Program>(new Program(machine.host.Start(words)));
  }

  void StartNats() {
    nats_ = StartOn(*nats_host_, {"nats-server", "-js", "-sd", File("nats"), "-a", nats_host_->address, "-p", "4222",
                                  "-l", File("nats.log")});
    EXPECT_TRUE(Eventually([this] { return ConnectsFrom(*nats_host_, *nats_host_, 4222); }, kStartPatience));
  }

  static bool ConnectsFrom(const Machine& from, const Machine& to, int port) {
    const std::string script = fmt::format("exec 3<>/dev/tcp/{}/{}", to.address, port);
    return from.host.Start({"bash", "-c", script}).Finish().status == 0;
  }

  // The network of the test is its own, so nodes may dial each other in plain. They find out their addresses by NATS.
  std::unique_ptr<Program> StartNode(const Machine& machine, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {HOLDFAST_BINARY,
                                      "rendezvous",
                                      "--listen",
                                      "0.0.0.0:8070",
                                      "--tokens",
                                      File("tokens.toml"),
                                      "--bus",
                                      fmt::format("nats://{}:4222", nats_host_->address),
                                      "--insecure-node-http",
                                      "--log-level",
                                      "error"};
    words.insert(words.end(), more.begin(), more.end());
    std::unique_ptr<Program> node = StartOn(machine, words);
    node->AwaitOutput("http");
    return node;
  }

  // `place` is a name or an address.
  void LaunchExecutor(std::string_view place) {
    executor_ =
        StartOn(*executor_host_, {"env", "HOLDFAST_REMOTE_TOKEN_FILE=" + File("executor.token"), HOLDFAST_BINARY,
                                  "exec-server", "--remote", fmt::format("http://{}:8070", place), "--executor-id",
                                  "far", "--log-level", "error", "--sandbox-check=false"});
  }
  // Returns when the client's host finds the executor at both nodes.
  void StartExecutor(std::string_view place) {
    LaunchExecutor(place);
    EXPECT_TRUE(Eventually([this] { return Knows(*first_host_) && Knows(*second_host_); }, kStartPatience));
  }

  bool Knows(const Machine& node) const {
    return client_host_->host
        .Start({"curl", "-s", "-m", "2", "-H", "Authorization: Bearer " + client_token_,
                fmt::format("http://{}:8070/executors", node.address)})
        .Finish()
        .out.contains(R"("id":"far")");
  }

  // The value of a metric of a node.
  double Metric(const Machine& node, std::string_view name) const {
    const std::string text = node.host.Start({"curl", "-s", "-k", "http://127.0.0.1:8070/metrics"}).Finish().out;
    const size_t at = text.find(fmt::format("\n{} ", name));
    return at == std::string::npos ? -1 : std::strtod(text.c_str() + at + name.size() + 2, nullptr);
  }

  // Returns the time until a node has no pair any more.
  std::chrono::milliseconds TimeWithoutPairs(const Machine& node) const {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(Eventually([&] { return Metric(node, "holdfast_rendezvous_pairs") == 0; }));
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  }

  // Starts a command that writes `count` lines, one every 20 ms, and the number of the last one into a file.
  Program RunLines(std::string_view place, int count) const {
    const std::string script = fmt::format(
        "i=0; while [ $i -lt {} ]; do echo line $i; echo $i > {}; i=$((i+1)); sleep 0.02; done", count, File("last"));
    return client_host_->host.Start({HOLDFAST_BINARY, "run", "--server",
                                     fmt::format("http://{}:8070/executors/far", place), "--token-file",
                                     File("client.token"), "--", "/bin/sh", "-c", script});
  }

  int LastWritten() const {
    int number = -1;
    std::ifstream(File("last")) >> number;
    return number;
  }

  static void ExpectAllLines(Program& client, int count) {
    const Outcome done = client.Finish();
    EXPECT_EQ(done.out, LinesUpTo(count)) << done.err;
    EXPECT_EQ(done.status, 0) << done.err;
  }

  ScratchDir dir_;
  const std::string executor_token_ = RandomSecret(), client_token_ = RandomSecret();
  TestNetwork network_;
  Machine *nats_host_ = nullptr, *first_host_ = nullptr, *second_host_ = nullptr, *executor_host_ = nullptr,
          *client_host_ = nullptr;
  std::unique_ptr<Program> nats_, first_, second_, executor_;
};

TEST_F(RendezvousHostsTest, AClientOfOneNodeReachesAnExecutorOfTheOther) {
  StartExecutor(first_host_->address);
  Program client = RunLines(second_host_->address, 50);
  ExpectAllLines(client, 50);
}

TEST_F(RendezvousHostsTest, ALinkThatIsCutForAWhileLosesNoLine) {
  StartExecutor(kName);
  for (const Machine* machine : {client_host_, executor_host_}) {
    Program client = RunLines(kName, 200);
    client.AwaitOutput("line 20\n");
    network_.Cut(*machine);
    EXPECT_TRUE(Eventually([this] { return LastWritten() >= 120; }));  // the command goes on
    network_.Heal(*machine);
    ExpectAllLines(client, 200);
  }
}

TEST_F(RendezvousHostsTest, ANodeThatIsKilledLosesNoLine) {
  StartExecutor(kName);
  Program client = RunLines(kName, 300);
  client.AwaitOutput("line 50\n");
  first_->Signal(SIGKILL);
  client.AwaitOutput("line 150\n");
  first_ = StartNode(*first_host_);
  EXPECT_TRUE(Eventually([this] { return Knows(*first_host_); }, kStartPatience));
  second_->Signal(SIGKILL);
  ExpectAllLines(client, 300);
}

// The name resolves to the node that is gone first, and then to the other. Nothing refuses a connection to the former.
TEST_F(RendezvousHostsTest, AnExecutorGetsPastANodeWithoutPower) {
  network_.PowerOff(*first_host_);
  LaunchExecutor(kName);
  EXPECT_TRUE(Eventually([this] { return Knows(*second_host_); }, kRegisterPatience));
  Program client = RunLines(kName, 20);
  ExpectAllLines(client, 20);
}

// The time is measured from outside, with a call of curl, on a machine that has other work.
constexpr std::chrono::milliseconds kNoticed(2'000);

TEST_F(RendezvousHostsTest, ANodeWithoutPowerIsNoticedByTheOtherWhateverIsUnderWay) {
  for (const char* command : {"sleep 1000", "cat /dev/zero"}) {
    StartExecutor(first_host_->address);
    Program client = client_host_->host.Start(
        {HOLDFAST_BINARY, "run", "--server", fmt::format("http://{}:8070/executors/far", second_host_->address),
         "--token-file", File("client.token"), "--", "/bin/sh", "-c", fmt::format("echo begun; exec {}", command)});
    client.AwaitOutput("begun");
    EXPECT_EQ(Metric(*first_host_, "holdfast_rendezvous_pairs"), 1);
    network_.Cut(*second_host_);
    EXPECT_LT(TimeWithoutPairs(*first_host_), kNoticed) << command;
    EXPECT_LT(TimeWithoutPairs(*second_host_), kNoticed) << command;
    client.Signal(SIGKILL);
    (void)client.Finish();
    network_.Heal(*second_host_);
    executor_.reset();
  }
}

TEST_F(RendezvousHostsTest, ANodeThatIsKilledIsNoticedAtOnce) {
  StartExecutor(first_host_->address);
  Program client = RunLines(second_host_->address, 100'000);
  client.AwaitOutput("line 5\n");
  EXPECT_EQ(Metric(*first_host_, "holdfast_rendezvous_pairs"), 1);
  second_->Signal(SIGKILL);
  EXPECT_LT(TimeWithoutPairs(*first_host_), kNoticed);
  client.Signal(SIGKILL);
  (void)client.Finish();
}

// The third node has the executor as well, and can be dialled.
TEST_F(RendezvousHostsTest, AnotherNodeIsTriedIfOneAdvertisesAnAddressThatLeadsNowhere) {
  const Machine& third_host = network_.Add();
  first_->Signal(SIGTERM);
  (void)first_->Finish();
  first_ = StartNode(*first_host_, {"--advertise", "http://192.0.2.99:8070"});
  StartExecutor(first_host_->address);
  EXPECT_THAT(RunLines(second_host_->address, 1).Finish().err,
              testing::EndsWith("cannot be reached through " + second_host_->address +
                                ":8070 now: the node that has the executor cannot be reached from this one\n"));
  const auto third = StartNode(third_host);
  const auto unreachable = std::move(executor_);
  StartExecutor(third_host.address);
  EXPECT_TRUE(Eventually([&] { return Knows(third_host); }));
  Program client = RunLines(second_host_->address, 20);
  ExpectAllLines(client, 20);
}

// The nodes of a bucket share its key, and a node of another bucket is not one of them.
TEST_F(RendezvousHostsTest, NodesProveThemselvesOverTlsWithoutACommonAuthority) {
  const TestCertificate one({.names = "DNS:rv-1.example"}), two({.names = "DNS:rv-2.example"});
  for (auto* node : {&first_, &second_}) {
    (*node)->Signal(SIGTERM);
    (void)(*node)->Finish();
    const TestCertificate& certificate = node == &first_ ? one : two;
    *node = StartOn(node == &first_ ? *first_host_ : *second_host_,
                    {HOLDFAST_BINARY, "rendezvous", "--listen", "0.0.0.0:8070", "--tokens", File("tokens.toml"),
                     "--bus", fmt::format("nats://{}:4222", nats_host_->address), "--tls-cert",
                     certificate.certificate_file(), "--tls-key", certificate.key_file(), "--log-level", "error"});
    (*node)->AwaitOutput("https://");
  }
  network_.SetName("rv-1.example", {first_host_});
  network_.SetName("rv-2.example", {second_host_});
  executor_ = StartOn(*executor_host_,
                      {"env", "HOLDFAST_REMOTE_TOKEN_FILE=" + File("executor.token"), HOLDFAST_BINARY, "exec-server",
                       "--remote", "https://rv-1.example:8070", "--ca-file", one.certificate_file(), "--executor-id",
                       "far", "--log-level", "error", "--sandbox-check=false"});
  const auto run = [&] {
    return client_host_->host.Start({HOLDFAST_BINARY, "run", "--server", "https://rv-2.example:8070/executors/far",
                                     "--ca-file", two.certificate_file(), "--token-file", File("client.token"), "--",
                                     "echo", "over TLS"});
  };
  EXPECT_TRUE(Eventually([&] { return run().Finish().out == "over TLS\n"; }, kStartPatience));
}

// Pairs that are joined go on while NATS is away.
TEST_F(RendezvousHostsTest, ARestartOfNatsLosesNoLine) {
  StartExecutor(first_host_->address);
  Program client = RunLines(second_host_->address, 300);
  client.AwaitOutput("line 50\n");
  nats_->Signal(SIGKILL);
  (void)nats_->Finish();  // killed
  client.AwaitOutput("line 150\n");
  EXPECT_EQ(Metric(*first_host_, "holdfast_rendezvous_pairs"), 1);
  EXPECT_EQ(Metric(*first_host_, "holdfast_rendezvous_joins_total{place=\"client_elsewhere\"}"), 1);
  StartNats();
  ExpectAllLines(client, 300);
}

}  // namespace
}  // namespace holdfast::support
