// Commands of the user that reach a server through a node, however the server is offered there: the real programs.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/node_fixture.h"
#include "support/program.h"

namespace holdfast::rendezvous {
namespace {

using support::Outcome;

class RemoteCommandsFixture : public NodeFixture {
 protected:
  static constexpr const char* kId = "build-7";

  // The options by which a command reaches an executor with a token.
  std::string OptionsFor(const std::string& id, std::string_view token) const {
    const std::string file = dir_.Write(fmt::format("token-{}", token), fmt::format("{}\n", token), 0600);
    return fmt::format("--server {}/executors/{} --token-file {}", url_, id, file);
  }

  // The words of a program that runs a line of bash in the directory of the test. $SERVER in the line is the executor.
  std::vector<std::string> Bash(const std::string& line) const {
    const std::string binary = HOLDFAST_BINARY;
    return {"env",
            "PATH=" + binary.substr(0, binary.rfind('/')) + ":/usr/bin:/bin",
            "SERVER=" + OptionsFor(kId, kAlice),
            "bash",
            "-c",
            "set -o pipefail; cd " + dir_.path() + "; " + line};
  }

  Outcome Run(const std::string& line) const { return support::Program(Bash(line)).Finish(); }

  // Expects success and an empty standard error, and returns standard output.
  std::string Output(const std::string& line) const {
    const Outcome outcome = Run(line);
    EXPECT_EQ(outcome.status, 0) << line;
    EXPECT_EQ(outcome.err, "") << line;
    return outcome.out;
  }
};

// The way in which a server is offered at the node.
enum class Way { kExecutor, kEnvironment, kForwarder };

void PrintTo(Way way, std::ostream* out) {
  switch (way) {
    case Way::kExecutor:
      *out << "Executor";
      break;
    case Way::kEnvironment:
      *out << "Environment";
      break;
    case Way::kForwarder:
      *out << "Forwarder";
      break;
  }
}

class RemoteCommandsTest : public RemoteCommandsFixture, public testing::WithParamInterface<Way> {
 protected:
  void SetUp() override {
    StartNode();
    Offer();
    ASSERT_TRUE(AwaitConnections(1));
  }

  void Offer() {
    const std::string socket = "unix://" + dir_.path() + "/server.sock";
    switch (GetParam()) {
      case Way::kExecutor:
        StartExecutor(kId);
        break;
      case Way::kEnvironment:
        StartEnvironment(kId);
        break;
      case Way::kForwarder:
        processes_.push_back(Process::Start({"--listen", socket}));
        StartForwarder(kId, socket);
        break;
    }
  }

  // The lines that the counting command of the test has printed so far.
  size_t CountPrinted() const {
    std::ifstream file(dir_.path() + "/printed");
    return static_cast<size_t>(std::count(std::istreambuf_iterator<char>(file), {}, '\n'));
  }

  // What the run has written to standard error.
  std::string Said() const {
    std::ifstream file(dir_.path() + "/said");
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  bool AwaitPrinted(size_t lines) const {
    return support::Eventually([&] { return CountPrinted() >= lines; });
  }

  static std::string LinesTo(size_t last) {
    std::string lines;
    for (size_t number = 1; number <= last; ++number) lines += fmt::format("line {}\n", number);
    return lines;
  }
};

TEST_P(RemoteCommandsTest, ARunHasTheOutputAndTheExitStatusOfItsCommand) {
  const Outcome outcome = Run("holdfast run $SERVER -- sh -c 'echo out; echo err >&2; exit 7'");
  EXPECT_EQ(outcome.out, "out\n");
  EXPECT_EQ(outcome.err, "err\n");
  EXPECT_EQ(outcome.status, 7);
}

TEST_P(RemoteCommandsTest, ARunPassesItsInputOnUnchanged) {
  EXPECT_EQ(Output("head -c 5000000 /dev/urandom > data; holdfast run $SERVER -- cat < data | cmp - data && echo same"),
            "same\n");
}

TEST_P(RemoteCommandsTest, ATreeIsCopiedInBothDirections) {
  Output("mkdir -p tree/deep; seq 200000 > tree/deep/numbers; echo text > tree/tool; chmod 755 tree/tool");
  EXPECT_EQ(Output("holdfast cp $SERVER tree :$PWD/up && holdfast cp $SERVER :$PWD/up down && diff -r tree up && "
                   "diff -r tree down && stat -c %a up/tool down/tool"),
            "755\n755\n");
}

TEST_P(RemoteCommandsTest, FilesAreListedReadAndRemoved) {
  Output("mkdir tree; echo text > tree/one; echo more > tree/two");
  EXPECT_EQ(Output("holdfast ls $SERVER $PWD/tree; holdfast cat $SERVER $PWD/tree/one"), "one\ntwo\ntext\n");
  EXPECT_EQ(Output("holdfast rm $SERVER $PWD/tree/one; ls tree"), "two\n");
  EXPECT_EQ(Run("holdfast cat $SERVER $PWD/tree/one").status, 1);
}

TEST_P(RemoteCommandsTest, ADetachedRunIsFoundByLaterCommands) {
  EXPECT_EQ(Output("holdfast run $SERVER -d -i --name job -- sh -c 'read word; echo got $word; exit 4'"), "job\n");
  EXPECT_EQ(Output("holdfast ps $SERVER -q"), "job\n");
  EXPECT_EQ(Output("holdfast send $SERVER job 'this'"), "");
  EXPECT_EQ(Run("holdfast wait $SERVER job").status, 4);
  EXPECT_EQ(Output("holdfast logs $SERVER job"), "got this\n");
}

TEST_P(RemoteCommandsTest, ARunPrintsEachLineOnceAndSaysThatItTriesAgainWhileTheNodeIsGone) {
  support::Program run(
      Bash("exec holdfast run $SERVER -C $PWD -- sh -c 'n=0; while [ ! -e enough ]; do n=$((n + 1)); "
           "echo line $n | tee -a printed; sleep 0.01; done; exit 5' 2> said"));
  run.AwaitOutput("line 20\n");
  const std::string same_address = address();
  processes_.front().Kill();
  ASSERT_TRUE(AwaitPrinted(CountPrinted() + 5));  // the command goes on meanwhile
  const std::string lost = "holdfast run: the connection to the server is lost; trying again\n";
  ASSERT_TRUE(support::Eventually([&] { return Said() == lost; })) << Said();
  StartNode({}, same_address);
  run.AwaitOutput(fmt::format("line {}\n", CountPrinted() + 5));
  (void)dir_.Write("enough", "");
  const Outcome outcome = run.Finish();
  EXPECT_EQ(outcome.out, LinesTo(CountPrinted()));
  EXPECT_EQ(Said(), lost + "holdfast run: the connection is back\n");
  EXPECT_EQ(outcome.status, 5);
}

INSTANTIATE_TEST_SUITE_P(Ways, RemoteCommandsTest, testing::Values(Way::kExecutor, Way::kEnvironment, Way::kForwarder),
                         testing::PrintToStringParamName());

class RefusedCommandsTest : public RemoteCommandsFixture {
 protected:
  void SetUp() override {
    StartNode();
    StartExecutor(kId);
    ASSERT_TRUE(AwaitConnections(1));
  }

  // Expects that a run and a copy are refused with this error, each on one line and with its own exit status.
  void ExpectRefusal(const std::string& options, const std::string& error) const {
    const Outcome run = Run("holdfast run " + options + " -- touch made");
    EXPECT_EQ(run.err, "holdfast run: " + error + "\n");
    EXPECT_EQ(run.status, 125);
    const Outcome copy = Run("echo x > a; holdfast cp " + options + " a :$PWD/made");
    EXPECT_EQ(copy.err, "holdfast cp: " + error + "\n");
    EXPECT_EQ(copy.status, 1);
    EXPECT_EQ(Output("find . -name made"), "");
  }
};

TEST_F(RefusedCommandsTest, ATokenThatIsNotValidIsReported) {
  const std::string error = fmt::format("the rendezvous at {} does not accept the token: ", address());
  ExpectRefusal(OptionsFor(kId, "unknown"), error + "the token is not valid here");
  ExpectRefusal(OptionsFor(kId, kFarm), error + "the token is not valid here");
  ExpectRefusal(fmt::format("--server {}/executors/{}", url_, kId), error + "the request has no bearer token");
}

TEST_F(RefusedCommandsTest, ATokenOfOtherExecutorsIsReported) {
  ExpectRefusal(
      OptionsFor(kId, kBob),
      fmt::format("the token may not use the executor {} at {}: the token is not for this id", kId, address()));
}

TEST_F(RefusedCommandsTest, AnExecutorThatIsNotConnectedIsReported) {
  ExpectRefusal(
      OptionsFor("build-8", kAlice),
      fmt::format("no executor named build-8 is connected to {}: no executor with this id is known", address()));
}

TEST_F(RefusedCommandsTest, ANodeThatIsNotThereIsReported) {
  processes_.front().Kill();
  ExpectRefusal(OptionsFor(kId, kAlice), fmt::format("cannot reach the server at {}: Connection refused", address()));
}

}  // namespace
}  // namespace holdfast::rendezvous
