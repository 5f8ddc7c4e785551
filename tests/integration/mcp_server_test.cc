// Tests of the program `holdfast mcp-server` as a client sees it: sandboxes, time limits, and that nothing is left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "support/eventually.h"
#include "support/mcp_client.h"
#include "support/proc.h"
#include "support/program.h"
#include "support/scratch_dir.h"
#include "support/server_process.h"

namespace holdfast::support {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr char kNoLimit[] = R"(,"timeout_ms":600000)";
constexpr char kFullAccess[] = R"({"type":"danger-full-access"})";

// These processes are descendants that no signal to the process group reaches.
constexpr char kStubborn[] =
    "trap '' TERM HUP INT; setsid sleep 1000 & (setsid sh -c '(sleep 1000 &)' &); echo ready; sleep 1000";

std::string Touch(const std::string& path) { return "touch " + path + " 2>/dev/null && echo written || echo refused"; }

void ExpectNothingAlive() {
  EXPECT_TRUE(Eventually([] { return LivingWithVariable(RunMarker()).empty(); }))
      << testing::PrintToString(LivingWithVariable(RunMarker()));
}

TEST(McpServerTest, RunsACommandReadOnlyUntilTheClientSaysOtherwise) {
  const ScratchDir dir("/var/tmp");
  McpClient client;
  client.set_workdir(dir.path());
  EXPECT_EQ(client.Shell("pwd; " + Touch("file")).Text("output"), dir.path() + "\nrefused\n");
  client.SetSandbox(R"({"type":"workspace-write","exclude_slash_tmp":true,"exclude_tmpdir_env_var":true})", dir.path());
  EXPECT_EQ(client.Shell(Touch("file")).Text("output"), "written\n");
  EXPECT_EQ(client.Shell(Touch("/var/tmp/holdfast-mcp-test")).Text("output"), "refused\n");
  client.SetSandbox(R"({"type":"read-only"})", dir.path());
  EXPECT_EQ(client.Shell(Touch("other")).Text("output"), "refused\n");
  client.SetSandbox(kFullAccess, dir.path());
  EXPECT_EQ(client.Shell(Touch("other")).Text("output"), "written\n");
}

TEST(McpServerTest, BeginsWithTheSandboxOfTheOperator) {
  const ScratchDir dir("/var/tmp");
  McpClient client({.flags = {"--sandbox-policy", kFullAccess}});
  client.set_workdir(dir.path());
  EXPECT_EQ(client.Shell(Touch("file")).Text("output"), "written\n");
}

TEST(McpServerTest, BeginsWithTheSandboxThatTheOptionsDescribe) {
  const ScratchDir dir("/var/tmp");
  dir.Write("out/there", "");
  dir.Write("secret", "text\n");
  McpClient client({.flags = {"-w", dir.path() + "/out", "--deny", dir.path() + "/secret"}});
  client.set_workdir(dir.path());
  EXPECT_EQ(client.Shell(Touch("out/file")).Text("output"), "written\n");
  EXPECT_EQ(client.Shell(Touch("file")).Text("output"), "refused\n");
  EXPECT_EQ(client.Shell("cat secret 2>/dev/null || echo refused").Text("output"), "refused\n");
}

TEST(McpServerTest, BeginsWithTheProfileOfAFile) {
  const ScratchDir dir("/var/tmp");
  dir.Write("p.toml", "[permissions.p.filesystem]\n\":root\" = \"read\"\n\"" + dir.path() + "\" = \"write\"\n");
  McpClient client({.flags = {"--config", dir.path() + "/p.toml", "--profile", "p"}});
  client.set_workdir(dir.path());
  EXPECT_EQ(client.Shell(Touch("file")).Text("output"), "written\n");
}

// The command of one call leaves a link in the place of a directory, which the client of the next call names as its
// project. The directory is not below /var/tmp, where every link is refused.
TEST(McpServerTest, TakesNoProjectThroughALinkThatACommandHasLeft) {
  if (::access("/opt", W_OK) != 0) GTEST_SKIP() << "/opt cannot be written";
  const ScratchDir dir("/opt");
  fs::create_directories(dir.path() + "/project/sub");
  fs::create_directory(dir.path() + "/victim");
  const std::string project = dir.path() + "/project", policy = R"({"type":"workspace-write"})";
  McpClient client;
  client.set_workdir(project);
  client.SetSandbox(policy, project);
  EXPECT_EQ(client.Shell("rmdir sub && ln -s ../victim sub && echo left").Text("output"), "left\n");
  client.SetSandbox(policy, project + "/sub");
  client.SendShell("touch sub/made");
  EXPECT_THAT(client.Receive().Text("error.message"), HasSubstr("crosses the link " + project + "/sub"));
  EXPECT_TRUE(fs::is_empty(dir.path() + "/victim"));
}

TEST(McpServerTest, NeverRunsAHelperThatTheClientNames) {
  const ScratchDir dir("/var/tmp");
  const std::string helper = dir.Write("helper", "#!/bin/sh\ntouch " + dir.path() + "/ran\n", 0755);
  McpClient client;
  client.Call(
      "codex/sandbox-state/update",
      R"({"sandboxPolicy":{"type":"read-only"},"sandboxCwd":"/","codexLinuxSandboxExe":)" + Quoted(helper) + "}");
  EXPECT_EQ(client.Shell("echo inside").Text("output"), "inside\n");
  EXPECT_FALSE(fs::exists(dir.path() + "/ran"));
}

TEST(McpServerTest, TellsCommandsWhetherTheyHaveANetwork) {
  McpClient client({.env = {"HOLDFAST_SERVER=ws://secret"}});
  const std::string script = "echo net=$CODEX_SANDBOX_NETWORK_DISABLED server=$HOLDFAST_SERVER";
  EXPECT_EQ(client.Shell(script).Text("output"), "net=1 server=\n");
  client.SetSandbox(R"({"type":"read-only","network_access":true})", "/");
  EXPECT_EQ(client.Shell(script).Text("output"), "net= server=\n");
}

TEST(McpServerTest, UsesTheShellOfTheOperator) {
  McpClient client({.flags = {"--shell", "/bin/sh"}});
  EXPECT_EQ(client.Shell("echo $0").Text("output"), "/bin/sh\n");
}

TEST(McpServerTest, GoesOnAfterABadLine) {
  McpClient client;
  client.SendLine("this is not JSON");
  EXPECT_EQ(client.Receive().error_code(), -32700);
  EXPECT_EQ(client.Shell("echo on").Text("output"), "on\n");
}

TEST(McpServerTest, GoesOnAfterALineThatIsTooLong) {
  McpClient client;
  client.SendShell("echo begun; sleep 1000", kNoLimit, R"({"progressToken":1})");
  EXPECT_EQ(client.Receive().Text("params.message"), "begun\n");
  client.SendLine(R"({"jsonrpc":"2.0","id":5,"method":"ping","params":{"x":")" + std::string(5u << 20, 'a') + "\"}}");
  const Message refused = client.Receive();
  EXPECT_EQ(refused.error_code(), -32600);
  EXPECT_TRUE(refused.IsNull("id"));
  EXPECT_THAT(refused.Text("error.message"), HasSubstr("is longer than 4194304 bytes"));
  EXPECT_FALSE(DescendantsOf(client.server().pid()).empty());  // the call goes on
  EXPECT_EQ(client.Shell("echo fine").Text("output"), "fine\n");
}

TEST(McpServerTest, RefusesADirectoryThatDoesNotExist) {
  McpClient client;
  client.set_workdir("/no/such/directory");
  client.SendShell("true");
  const Message refused = client.Receive();
  EXPECT_EQ(refused.error_code(), -32603);
  EXPECT_THAT(refused.Text("error.message"), HasSubstr("No such file or directory"));
}

TEST(McpServerTest, KillsEverythingAtTheTimeLimit) {
  McpClient client;
  for (const char* policy : {R"({"type":"read-only"})", kFullAccess}) {
    client.SetSandbox(policy, "/");
    const Message result = client.ShellUntilTimeLimit(kStubborn);
    EXPECT_TRUE(result.Flag("timed_out"));
    EXPECT_EQ(result.Number("exit_code"), 124);
    EXPECT_EQ(result.Text("output"), "ready\n");
    // The jail of the call ends when it was not used for a while.
    EXPECT_TRUE(Eventually([&] { return DescendantsOf(client.server().pid()).empty(); }));
  }
}

TEST(McpServerTest, KillsACancelledCall) {
  McpClient client;
  const int64_t id = client.SendShell(kStubborn, kNoLimit, R"({"progressToken":1})");
  EXPECT_EQ(client.Receive().Text("params.message"), "ready\n");
  client.Notify("notifications/cancelled", "{\"requestId\":" + std::to_string(id) + "}");
  EXPECT_TRUE(Eventually([&] { return DescendantsOf(client.server().pid()).empty(); }));
  EXPECT_TRUE(client.Call("ping").Has("result"));  // and no answer to the call before
}

TEST(McpServerTest, LeavesNothingRunningWhenItsInputEnds) {
  for (const char* policy : {R"({"type":"read-only"})", kFullAccess}) {
    McpClient client;
    client.SetSandbox(policy, "/");
    client.SendShell(kStubborn, kNoLimit, R"({"progressToken":1})");
    EXPECT_EQ(client.Receive().Text("params.message"), "ready\n");
    client.server().CloseInput();
    EXPECT_EQ(client.server().WaitForExit(), 0) << client.server().Stderr();
    ExpectNothingAlive();
  }
}

TEST(McpServerTest, LeavesNothingRunningWhenItIsStopped) {
  McpClient client;
  client.SendShell(kStubborn, kNoLimit, R"({"progressToken":1})");
  EXPECT_EQ(client.Receive().Text("params.message"), "ready\n");
  client.server().Signal(SIGTERM);
  EXPECT_EQ(client.server().WaitForExit(), 0) << client.server().Stderr();
  ExpectNothingAlive();
}

TEST(McpServerTest, LeavesNothingRunningWhenItIsKilled) {
  McpClient client;
  client.SendShell(kStubborn, kNoLimit, R"({"progressToken":1})");
  EXPECT_EQ(client.Receive().Text("params.message"), "ready\n");
  client.server().Kill();
  ExpectNothingAlive();
}

TEST(McpServerTest, AnswersToTheNameOfTheOriginalWithItsFlags) {
  const std::string link = fs::path(HOLDFAST_BINARY).replace_filename("codex-exec-mcp-server");
  const Outcome served = Program({link, "--execve", "/no/wrapper", "--bash", "/bin/sh"}).Finish();
  EXPECT_EQ(served.status, 0) << served.err;  // its input is empty
  const Outcome refused = Program({"env", "CODEX_BASH_PATH=/no/bash", link}).Finish();
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("CODEX_BASH_PATH: /no/bash cannot be executed: No such file or directory"));
  EXPECT_THAT(Program({link, "-V"}).Finish().out, StartsWith("holdfast "));
  EXPECT_THAT(Program({link, "--help"}).Finish().out, HasSubstr("--preserve-program-paths"));
}

TEST(McpServerTest, EndsWithoutAClient) {
  const Finished finished = RunHoldfast({"mcp-server"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, IsEmpty());
}

TEST(McpServerTest, RefusesToStartWithABadPolicyOrShell) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"mcp-server", "--sandbox-policy", "{"}, "holdfast: --sandbox-policy: not JSON"},
      {{"mcp-server", "--sandbox-policy", R"({"type":"open"})"}, "holdfast: --sandbox-policy: type"},
      {{"mcp-server", "--shell", "bash"}, "holdfast: --shell: bash is not an absolute path"},
      {{"mcp-server", "--shell", "/no/shell"},
       "holdfast: --shell: /no/shell cannot be executed: No such file or directory"},
  };
  for (const auto& [arguments, complaint] : cases) {
    const Finished finished = RunHoldfast(arguments);
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_THAT(finished.err, StartsWith(complaint));
    EXPECT_THAT(finished.out, IsEmpty());
  }
}

}  // namespace
}  // namespace holdfast::support
