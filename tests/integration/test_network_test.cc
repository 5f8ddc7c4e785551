// Tests of the network of test hosts itself: the proofs that use it are worth as much as it is.
#include "support/test_network.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random_id.h"
#include "support/eventually.h"
#include "support/proc.h"
#include "support/required_program.h"

namespace holdfast::support {
namespace {

using testing::HasSubstr;
using Machine = TestNetwork::Machine;

constexpr int kLines = 100;

// A server on port 7000, which prints the lines that it gets on one connection.
const std::vector<std::string> kPrinter = {"python3", "-uc", R"(
import socket
listener = socket.create_server(("0.0.0.0", 7000))
print("ready")
for line in listener.accept()[0].makefile():
    print(line, end="")
)"};

// A client that sends numbered lines, and tells if its connection breaks.
std::vector<std::string> Counter(const Machine& server) {
  return {"python3", "-uc",
          fmt::format(R"(
import socket, time
try:
    connection = socket.create_connection(("{}", 7000))
    for number in range({}):
        connection.sendall(b"line %d\n" % number)
        time.sleep(0.01)
    connection.shutdown(socket.SHUT_WR)
    print("sent")
    connection.settimeout(60)
    print("heard", connection.recv(1))
except OSError as error:
    print("broken:", error)
)",
                      server.address, kLines)};
}

// A client that tries to connect for half a second, and prints the outcome.
std::vector<std::string> Caller(std::string_view address) {
  return {"python3", "-uc",
          fmt::format(R"(
import socket
try:
    socket.create_connection(("{}", 7000), timeout=0.5)
    print("connected")
except OSError as error:
    print(error)
)",
                      address)};
}

std::string AllLines() {
  std::string lines;
  for (int number = 0; number < kLines; ++number) lines += fmt::format("line {}\n", number);
  return lines;
}

// A command line that starts a process which leaves its parent, and prints a word when it has.
std::vector<std::string> Stray(const std::string& marker) {
  return {"env", marker, "/bin/sh", "-c", "setsid sleep 1000 & echo started"};
}

std::string Marker() { return "HOLDFAST_TEST_NETWORK=" + RandomUuid(); }

class TestNetworkTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!RequireProgram("python3") || !RequireAvailable(network_.why_not())) return;
    near_ = &network_.Add();
    far_ = &network_.Add();
  }

  TestNetwork network_;
  Machine* near_ = nullptr;
  Machine* far_ = nullptr;
};

TEST_F(TestNetworkTest, HostsReachEachOtherByTheirAddresses) {
  if (far_ == nullptr) return;
  Program printer = far_->host.Start(kPrinter);
  printer.AwaitOutput("ready");
  Program counter = near_->host.Start(Counter(*far_));
  EXPECT_EQ(printer.Finish().out, "ready\n" + AllLines());
  EXPECT_EQ(counter.Finish().out, "sent\nheard b''\n");
}

TEST_F(TestNetworkTest, AHostHasALoopbackAndPortsOfItsOwn) {
  if (far_ == nullptr) return;
  Program here = far_->host.Start(kPrinter), there = near_->host.Start(kPrinter);
  here.AwaitOutput("ready");
  there.AwaitOutput("ready");
  EXPECT_EQ(near_->host.Start(Caller("127.0.0.1")).Finish().out, "connected\n");
  EXPECT_THAT(network_.Add().host.Start(Caller("127.0.0.1")).Finish().out, HasSubstr("refused"));
  EXPECT_THAT(Program(Caller(far_->address)).Finish().out, testing::Not(HasSubstr("connected")));
}

TEST_F(TestNetworkTest, ACutLinkIsSilentAndLosesNothingOnceItIsHealed) {
  if (far_ == nullptr) return;
  Program printer = far_->host.Start(kPrinter);
  printer.AwaitOutput("ready");
  Program counter = near_->host.Start(Counter(*far_));
  printer.AwaitOutput("line 3\n");
  network_.Cut(*far_);
  counter.AwaitOutput("sent");
  EXPECT_EQ(near_->host.Start(Caller(far_->address)).Finish().out, "timed out\n");
  network_.Heal(*far_);
  EXPECT_EQ(printer.Finish().out, "ready\n" + AllLines());
  EXPECT_EQ(counter.Finish().out, "sent\nheard b''\n");
}

TEST_F(TestNetworkTest, ACutLinkDropsWhatTheOtherSideSends) {
  if (far_ == nullptr) return;
  Program printer = far_->host.Start(kPrinter);
  printer.AwaitOutput("ready");
  network_.Cut(*near_);
  EXPECT_EQ(near_->host.Start(Caller(far_->address)).Finish().out, "timed out\n");
  EXPECT_EQ(network_.Add().host.Start(Caller(far_->address)).Finish().out, "connected\n");
}

TEST_F(TestNetworkTest, AHostWithoutPowerDoesNotSayGoodbye) {
  if (far_ == nullptr) return;
  Program printer = far_->host.Start(kPrinter);
  printer.AwaitOutput("ready");
  Program counter = near_->host.Start(Counter(*far_));
  printer.AwaitOutput("line 3\n");
  network_.PowerOff(*far_);
  EXPECT_EQ(printer.Finish().status, 128 + SIGKILL);
  counter.AwaitOutput("sent");
  EXPECT_EQ(near_->host.Start(Caller(far_->address)).Finish().out, "timed out\n");
  counter.Signal(SIGTERM);
  EXPECT_EQ(counter.Finish().out, "sent\n");
}

TEST_F(TestNetworkTest, ANameResolvesToSeveralHostsInTheirOrder) {
  if (far_ == nullptr) return;
  network_.SetName("cluster.test", {far_, near_});
  network_.SetName("other.test", {near_});
  const Machine& third = network_.Add();
  EXPECT_EQ(third.host.Start({"getent", "ahostsv4", "cluster.test"}).Finish().out,
            fmt::format("{0:<15} STREAM cluster.test\n{0:<15} DGRAM  \n{0:<15} RAW    \n"
                        "{1:<15} STREAM \n{1:<15} DGRAM  \n{1:<15} RAW    \n",
                        far_->address, near_->address));
  EXPECT_THAT(third.host.Start({"getent", "hosts", "other.test"}).Finish().out, HasSubstr(near_->address));
  EXPECT_NE(Program({"getent", "hosts", "other.test"}).Finish().status, 0);
}

TEST_F(TestNetworkTest, ProcessesThatLeftTheirParentDieWithTheirHost) {
  if (far_ == nullptr) return;
  const std::string marker = Marker();
  Program stray = far_->host.Start(Stray(marker));
  stray.AwaitOutput("started");
  EXPECT_TRUE(Eventually([&] { return LivingWithVariable(marker).size() == 1; }));
  far_->host.Kill();
  EXPECT_THAT(LivingWithVariable(marker), testing::IsEmpty());
}

TEST(TestNetworkEndTest, NothingSurvivesATestThatIsKilled) {
  if (!RequireAvailable(TestNetwork().why_not())) return;
  const std::string marker = Marker();
  const pid_t test = ::fork();
  if (test == 0) {
    TestNetwork network;
    Program stray = network.Add().host.Start(Stray(marker));
    for (;;) ::pause();
  }
  EXPECT_TRUE(Eventually([&] { return LivingWithVariable(marker).size() == 1; }));
  ::kill(test, SIGKILL);
  ::waitpid(test, nullptr, 0);
  EXPECT_TRUE(Eventually([&] { return LivingWithVariable(marker).empty(); }));
}

// Returns what a client on one host says of a server on another.
std::string TryNetwork() {
  TestNetwork network;
  if (!network.why_not().empty()) return "not permitted: " + network.why_not();
  const Machine &near = network.Add(), &far = network.Add();
  Program printer = far.host.Start(kPrinter);
  printer.AwaitOutput("ready");
  return near.host.Start(Caller(far.address)).Finish().out;
}

// A process that changes its user does not own its files in /proc until it is made dumpable again.
[[noreturn]] void TryNetworkAsOtherUser() {
  if (::setgid(65534) < 0 || ::setuid(65534) < 0 || ::prctl(PR_SET_DUMPABLE, 1) < 0) ::_exit(1);
  const std::string outcome = TryNetwork();
  fmt::print(stderr, "{}\n", outcome);
  ::_exit(0);
}

TEST(TestNetworkEndTest, AUserWithoutPrivilegesHasANetworkInAUserNamespace) {
  if (::geteuid() != 0) GTEST_SKIP() << "the other tests have shown it";
  if (!RequireProgram("python3")) return;
  EXPECT_EXIT(TryNetworkAsOtherUser(), testing::ExitedWithCode(0), "^connected");
}

}  // namespace
}  // namespace holdfast::support
