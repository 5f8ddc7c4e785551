// The places where the token of an executor and the signature in the URL of its rendezvous must not be found.
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/sandboxed_fixture.h"
#include "remote/executor.h"
#include "remote/executor_fixture.h"
#include "support/sandbox_workspace.h"
#include "support/scratch_dir.h"

namespace holdfast::remote {
namespace {

using support::RpcClient;
using support::ServerProcess;
using testing::HasSubstr;
using testing::Not;

class SecretsTest : public ExecutorFixture {
 protected:
  void SetUp() override { registry_.SendTo(rendezvous_.url()); }

  // Returns the output of a command that inherits the environment of the executor.
  static std::string OutputOf(RpcClient& client, const std::string& script) {
    auto request = support::Shell("p", script);
    request.more =
        R"("envPolicy":{"inherit":"all","ignoreDefaultExcludes":true,"exclude":[],"set":{},"includeOnly":[]})";
    client.Start(request);
    return client.WaitForClosed("p");
  }
};

TEST_F(SecretsTest, AreNotInTheLogAtAnyLevel) {
  ServerProcess executor = Start({"--log-level", "debug"});
  rendezvous_.Accept().Refuse("500 Internal Server Error");
  JoinNext().Disconnect();
  registry_.Answer(403, "sesame-token may not use " + rendezvous_.url());
  EXPECT_EQ(executor.WaitForExit(), 1);
  const std::string log = executor.Stderr();
  EXPECT_THAT(log, HasSubstr("rendezvous.connected"));
  EXPECT_THAT(log, HasSubstr(rendezvous_.name()));
  EXPECT_THAT(log, Not(HasSubstr(kToken)));
}

TEST_F(SecretsTest, TheUrlOfTheRendezvousIsNotInTheLog) {
  ServerProcess executor = Start({"--log-level", "debug"});
  rendezvous_.Accept().Refuse("500 Internal Server Error");
  JoinNext().Disconnect();
  registry_.SendTo("http://" + rendezvous_.name() + rendezvous_.target());
  ASSERT_TRUE(support::Eventually([&] { return executor.Stderr().contains("neither ws nor wss"); }));
  executor.Stop();
  EXPECT_THAT(executor.Stderr(), Not(HasSubstr(ScriptedRendezvous::kSecret)));
}

TEST_F(SecretsTest, AreNotInTheEnvironmentOfCommands) {
  const ServerProcess executor = Start();
  RpcClient client = JoinNext();
  const std::string environment = OutputOf(client, "env");
  EXPECT_THAT(environment, HasSubstr("PATH="));
  EXPECT_THAT(environment, Not(HasSubstr("BEARER_TOKEN")));
}

TEST_F(SecretsTest, AreNotInTheEnvironmentThatTheKernelShows) {
  const ServerProcess executor = Start();
  RpcClient client = JoinNext();
  const std::string shown =
      OutputOf(client, fmt::format("tr '\\0' '\\n' < /proc/{0}/environ; cat /proc/{0}/comm", executor.pid()));
  EXPECT_THAT(shown, HasSubstr("holdfast"));
  EXPECT_THAT(shown, Not(HasSubstr(kToken)));
}

TEST_F(SecretsTest, ATokenFileIsReadForEachRegistration) {
  const support::ScratchDir dir;
  const std::string file = dir.Write("token", "first\n", 0600);
  const auto executor = ServerProcess::Launch(Words({"--remote", registry_.url(), "--executor-id", "exec-1"}),
                                              {"HOLDFAST_REMOTE_TOKEN_FILE=" + file});
  RpcClient client = JoinNext();
  (void)dir.Write("token", "second\n", 0600);
  client.Disconnect();
  ASSERT_TRUE(registry_.AwaitArrivals(2));
  EXPECT_EQ(registry_.arrivals()[0].Header("authorization"), "Bearer first");
  EXPECT_EQ(registry_.arrivals()[1].Header("authorization"), "Bearer second");
}

TEST_F(SecretsTest, ATokenFileThatEveryUserCanReadIsRefused) {
  const support::ScratchDir dir;
  const std::string file = dir.Write("token", "first\n", 0644);
  auto executor = ServerProcess::Launch(Words({"--remote", registry_.url(), "--executor-id", "exec-1"}),
                                        {"HOLDFAST_REMOTE_TOKEN_FILE=" + file});
  EXPECT_EQ(executor.WaitForExit(), 1);
  EXPECT_EQ(executor.Stderr(),
            "Error: executor registry authentication error: " + file + " can be read by every user (chmod o-r)\n");
}

// The directory of the token is the workspace, which the policy opens for reading and writing.
TEST_F(SecretsTest, ASandboxedCommandCannotReadTheTokenFile) {
  support::SandboxWorkspace workspace({.user = ::geteuid(), .means = support::Means::kSystemBubblewrap});
  if (const std::string reason = workspace.WhyNot(); !reason.empty()) GTEST_SKIP() << reason;
  const support::ScratchDir dir;
  const std::string file = dir.Write("token", "hidden-token\n", 0600);
  (void)dir.Write("other", "not hidden\n", 0600);
  const auto executor = ServerProcess::Launch(Words({"--remote", registry_.url(), "--executor-id", "exec-1"}),
                                              {"HOLDFAST_REMOTE_TOKEN_FILE=" + file});
  RpcClient client = JoinNext();
  const auto read = [&](std::string id, std::string more) {
    auto request = support::Shell(id, "cat other token; echo done");
    request.cwd = dir.path();
    request.more = std::move(more);
    client.Start(request);
    (void)client.WaitForClosed(id);
    return client.Output(id, "stdout");
  };
  EXPECT_EQ(read("outside", ""), "not hidden\nhidden-token\ndone\n");
  EXPECT_EQ(read("inside", support::Sandbox(support::WorkspaceWrite())), "not hidden\ndone\n");
}

}  // namespace
}  // namespace holdfast::remote
