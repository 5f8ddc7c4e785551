// Tests of `holdfast mcp-server --intercept wrapper`. The scripts call the wrapper themselves, as a patched shell does,
// so that any shell will do.
#include <unistd.h>

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/eventually.h"
#include "support/mcp_client.h"
#include "support/proc.h"
#include "support/program.h"
#include "support/scratch_dir.h"
#include "support/server_process.h"

namespace holdfast::support {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr char kRules[] = R"(
prefix_rule(pattern=["touch"], decision="allow")
prefix_rule(pattern=["sleep"], decision="allow")
prefix_rule(pattern=["uname"], decision="prompt", justification="The kernel is a secret.")
prefix_rule(pattern=["whoami"], decision="forbidden", justification="Ask me.")
)";

// Returns how many processes of the server run `sleep`.
size_t SleepsOf(pid_t server) {
  size_t count = 0;
  for (const pid_t pid : DescendantsOf(server)) count += ReadProcFile(pid, "comm") == "sleep\n" ? 1 : 0;
  return count;
}

class McpWrapperTest : public testing::Test {
 protected:
  McpOptions Options(const std::string& shell = "/bin/bash") {
    return {.flags = {"--intercept", "wrapper", "--shell", shell, "--rules", rules_}};
  }

  std::string Path(const std::string& name) const { return dir_.path() + "/" + name; }
  bool Exists(const std::string& name) const { return std::filesystem::exists(Path(name)); }

  const ScratchDir dir_{"/var/tmp"};
  const std::string rules_ = dir_.Write("my.rules", kRules);
};

TEST_F(McpWrapperTest, TakesAProgramOutOfTheSandboxByARule) {
  McpClient client(Options());
  const auto result = client.Shell("touch " + Path("inside") + "; $BASH_EXEC_WRAPPER /bin/touch touch " +
                                   Path("outside") + "; echo $?");
  EXPECT_THAT(result.Text("output"), StartsWith("0\ntouch: cannot touch"));
  EXPECT_FALSE(Exists("inside"));
  EXPECT_TRUE(Exists("outside"));
}

TEST_F(McpWrapperTest, LeavesAProgramInsideThatTheCommandHasWritten) {
  McpClient client(Options());
  const ScratchDir workspace("/var/tmp");
  client.set_workdir(workspace.path());
  client.SetSandbox(R"({"type":"workspace-write","exclude_slash_tmp":true,"exclude_tmpdir_env_var":true})",
                    workspace.path());
  const auto result =
      client.Shell("cp /bin/touch touch && $BASH_EXEC_WRAPPER ./touch touch " + Path("outside") + "; echo $?");
  EXPECT_THAT(result.Text("output"), StartsWith("1\n"));
  EXPECT_FALSE(Exists("outside"));
}

TEST_F(McpWrapperTest, WatchesACommandWithoutASandboxToo) {
  McpClient client(Options());
  client.SetSandbox(R"({"type":"danger-full-access"})", "/");
  EXPECT_THAT(client.Shell("$BASH_EXEC_WRAPPER /usr/bin/whoami whoami; echo $?").Text("output"),
              StartsWith("1\nExecution denied: Ask me.\n"));
}

TEST_F(McpWrapperTest, AsksTheClient) {
  McpClient client(Options());
  const int64_t id = client.SendShell("$BASH_EXEC_WRAPPER /bin/uname uname -s; echo $?");
  const auto question = client.Receive();
  EXPECT_EQ(question.Text("method"), "elicitation/create");
  client.Answer(question, "accept");
  EXPECT_EQ(client.ReceiveShell(id).Text("output"), "Linux\n0\n");
  const int64_t again = client.SendShell("$BASH_EXEC_WRAPPER /bin/uname uname -s; echo $?");
  client.Answer(client.Receive(), "decline");
  EXPECT_EQ(client.ReceiveShell(again).Text("output"), "1\nExecution denied: User declined execution\n");
}

TEST_F(McpWrapperTest, KillsACommandOutsideAtTheTimeLimit) {
  McpClient client(Options());
  bool has_begun = false;
  for (const auto limit : kTimeLimits) {
    const int64_t id = client.SendShell("$BASH_EXEC_WRAPPER /bin/sleep sleep 1000", WithTimeLimit(limit));
    has_begun = Eventually([&] { return SleepsOf(client.server().pid()) == 1; }, limit);
    EXPECT_TRUE(client.ReceiveShell(id).Flag("timed_out"));
    if (has_begun) break;
  }
  EXPECT_TRUE(has_begun);
  EXPECT_TRUE(Eventually([&] { return SleepsOf(client.server().pid()) == 0; }));
}

TEST_F(McpWrapperTest, WorksWithThePatchedShell) {
  if (::access(HOLDFAST_PATCHED_BASH, X_OK) != 0) GTEST_SKIP() << "make patched-bash has not been run";
  McpClient client(Options(HOLDFAST_PATCHED_BASH));
  const auto result = client.Shell("touch " + Path("outside") + "; echo $?; whoami; cp /bin/true " + Path("copy"));
  EXPECT_THAT(result.Text("output"), StartsWith("0\nExecution denied: Ask me.\ncp: cannot create"));
  EXPECT_TRUE(Exists("outside"));
}

TEST(McpWrapperFlagsTest, AServerWithoutItsWrapperDoesNotStart) {
  const Outcome outcome =
      Program({HOLDFAST_BINARY, "mcp-server", "--intercept", "wrapper", "--execve", "/missing/wrapper"}).Finish();
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--execve: /missing/wrapper cannot be executed: No such file or directory"));
}

TEST(McpWrapperFlagsTest, AServerThatCannotBeStrictDoesNotStart) {
  const Outcome outcome = Program({HOLDFAST_BINARY, "mcp-server", "--intercept", "wrapper", "--strict"}).Finish();
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err,
            "holdfast: --strict needs --intercept seccomp: with the wrapper, programs are not executed from a copy\n");
}

}  // namespace
}  // namespace holdfast::support
