// A process that belongs to a supervised command is killed while the command waits for an answer, or while a program of
// it runs outside, inside or strictly: no process is left, nothing hangs, and the server has closed every descriptor.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "integration/exec_policy_fixture.h"
#include "support/eventually.h"
#include "support/proc.h"

namespace holdfast::support {
namespace {

struct Moment {
  std::string name;
  std::string decision;  // of the rule about the program; none if it is empty
  std::string more = {};
};
void PrintTo(const Moment& moment, std::ostream* out) { *out << moment.name; }

const Moment kMoments[] = {
    {.name = "WhileAProgramIsAskedAbout", .decision = "prompt"},
    {.name = "WhileAProgramRunsOutside", .decision = "allow"},
    {.name = "WhileAProgramRunsInside", .decision = ""},
    {.name = "WhileAProgramRunsStrictly", .decision = "", .more = R"(,"strict":true)"},
};

class SupervisedTree : public ExecPolicyFixture {
 protected:
  // The tree is empty when the launcher of the commands has ended too.
  SupervisedTree() : ExecPolicyFixture({"--launcher-idle-ms", "200"}) {}

  void SetUp() override {
    ExecPolicyFixture::SetUp();
    if (IsSkipped()) return;
    Run(Judged("first", "exit 0", ""));  // what the server opens once stays open
    AwaitEmptyTree();
    idle_fds_ = CountFds(server_.pid());
  }

  std::vector<pid_t> Tree() const { return DescendantsOf(server_.pid()); }
  void AwaitEmptyTree() const {
    EXPECT_TRUE(Eventually([&] { return Tree().empty(); })) << Tree().size() << " processes are left";
  }

  bool HasProgram() const {
    return std::ranges::any_of(
        Tree(), [](pid_t pid) { return ReadProcFile(pid, "cmdline").value_or("").starts_with("/usr/bin/tail"); });
  }

  // The process that has called execve: a child of the shell.
  std::optional<pid_t> Caller() const {
    for (const pid_t pid : Tree()) {
      if (!ReadProcFile(pid, "comm").value_or("").starts_with("bash")) continue;
      const auto children = ChildrenOf(pid);
      if (!children.empty()) return children.front();
    }
    return std::nullopt;
  }

  void ExpectThatNothingIsLeft() const {
    AwaitEmptyTree();
    EXPECT_TRUE(Eventually([&] { return CountFds(server_.pid()) <= idle_fds_; }))
        << CountFds(server_.pid()) << " descriptors instead of " << idle_fds_;
  }

  // Kills the server, and expects that all processes of the tree end.
  void KillServer() {
    const std::vector<pid_t> tree = Tree();
    EXPECT_GE(tree.size(), 3u) << "a keeper and two stages of the helper";
    server_.Kill();
    EXPECT_TRUE(Eventually([&] { return std::ranges::none_of(tree, IsAlive); }));
    EXPECT_TRUE(Eventually([] { return LivingWithVariable(RunMarker()).empty(); }));
  }

  size_t idle_fds_ = 0;
};

class KilledSupervisedProcessTest : public SupervisedTree, public testing::WithParamInterface<Moment> {
 protected:
  // Starts a process, and returns when the moment is there. A program that runs follows a file, and writes its content.
  void StartAt(const std::string& id) {
    const Moment& moment = GetParam();
    const std::string rules = moment.decision.empty() ? "" : Rule("/usr/bin/tail", moment.decision);
    const std::string file = workspace_.Write("file", "the program runs\n");
    StartRequest request = Judged(id, "/usr/bin/tail -f " + file + "; echo status $?; exec cat", rules, moment.more);
    request.argv[0] = "/bin/bash";
    request.pipe_stdin = true;
    client_.Start(request);
    if (moment.decision == "prompt") {
      (void)Asked(client_, id);
    } else {
      client_.WaitForOutput(id, "the program runs\n");
    }
  }
};

INSTANTIATE_TEST_SUITE_P(, KilledSupervisedProcessTest, testing::ValuesIn(kMoments),
                         [](const testing::TestParamInfo<Moment>& test) { return test.param.name; });

// The tree has keepers, the helper and its stages, the shell, the stub, and the program. Where the killed process was
// not one that the command needs, the client ends the command.
TEST_P(KilledSupervisedProcessTest, LeavesNothingWhicheverProcessItIs) {
  size_t killed = 0;
  for (size_t which = 0;; ++which) {
    const std::string id = "p" + std::to_string(which);
    StartAt(id);
    const std::vector<pid_t> tree = Tree();
    if (which < tree.size()) killed += ::kill(tree[which], SIGKILL) == 0 ? 1 : 0;
    EXPECT_TRUE(client_.Call("process/terminate", IdParams(id)).Has("result"));
    (void)client_.WaitForNotification("process/exited", id);
    (void)client_.WaitForClosed(id);
    ExpectThatNothingIsLeft();
    if (which >= tree.size() || HasFailure()) break;
  }
  EXPECT_GE(killed, 4u) << "a keeper, two stages of the helper and the shell";
}

TEST_P(KilledSupervisedProcessTest, LeavesNothingIfItIsTheServer) {
  StartAt("p");
  KillServer();
}

// The shell lives on, and so does the supervisor.
TEST_P(KilledSupervisedProcessTest, EndsWithItsProgramIfItIsTheCaller) {
  StartAt("p");
  std::optional<pid_t> caller;
  ASSERT_TRUE(Eventually([&] { return (caller = Caller()).has_value(); }));
  ASSERT_EQ(::kill(*caller, SIGKILL), 0);
  client_.WaitForOutput("p", "status 137\n");
  EXPECT_TRUE(Eventually([&] { return !HasProgram(); }));
  EXPECT_TRUE(client_.Call("process/terminate", IdParams("p")).Flag("result.running"));
  (void)client_.WaitForClosed("p");
  ExpectThatNothingIsLeft();
}

// The request to start is answered when the first execution was decided about.
using KilledSupervisedStartTest = SupervisedTree;

TEST_F(KilledSupervisedStartTest, IsAnsweredWhicheverProcessIsKilled) {
  size_t killed = 0;
  for (size_t which = 0;; ++which) {
    const std::string id = "p" + std::to_string(which);
    const int64_t start = client_.Send("process/start", Judged(id, "exit 0", Rule("sh", "prompt")).Params());
    const Message question = Asked(client_, id);
    const std::vector<pid_t> tree = Tree();
    if (which < tree.size()) killed += ::kill(tree[which], SIGKILL) == 0 ? 1 : 0;
    Decide(client_, question, "deny");  // too late where the process that asks is gone
    const Message answer = client_.Await(start);
    if (answer.Has("result")) (void)client_.WaitForClosed(id);
    ExpectThatNothingIsLeft();
    if (which >= tree.size() || HasFailure()) break;
  }
  EXPECT_GE(killed, 3u) << "a keeper and two stages of the helper";
}

TEST_F(KilledSupervisedStartTest, LeavesNothingIfTheServerIsKilled) {
  client_.Send("process/start", Judged("p", "exit 0", Rule("sh", "prompt")).Params());
  (void)Asked(client_, "p");
  KillServer();
}

}  // namespace
}  // namespace holdfast::support
