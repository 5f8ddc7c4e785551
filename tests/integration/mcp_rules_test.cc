// Tests of rules in `holdfast mcp-server`: what is executed inside, outside or not at all, questions to the user, and
// that commands outside end with their call.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/eventually.h"
#include "support/mcp_client.h"
#include "support/proc.h"
#include "support/scratch_dir.h"
#include "support/server_process.h"

namespace holdfast::support {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

constexpr char kNoLimit[] = R"(,"timeout_ms":600000)";
constexpr char kProgress[] = R"({"progressToken":1})";

constexpr char kRules[] = R"(
prefix_rule(pattern=["touch"], decision="allow")
prefix_rule(pattern=["sleep"], decision="allow")
prefix_rule(pattern=["mkdir"], decision="prompt", justification="It makes a directory.")
prefix_rule(pattern=["uname"], decision="forbidden", justification="The kernel is a secret.")
prefix_rule(pattern=["hostname"], decision="forbidden")
)";

constexpr uid_t kNobody = 65534;

// The server runs as root, and as an ordinary user, whose sandboxes are built in another way.
class McpRulesTest : public testing::TestWithParam<uid_t> {
 protected:
  void SetUp() override {
    if (GetParam() == ::geteuid()) return;
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    ASSERT_EQ(::chown(work_.path().c_str(), GetParam(), GetParam()), 0);
    ASSERT_EQ(::chmod(operator_.path().c_str(), 0755), 0);
  }

  McpOptions Options(std::vector<std::string> flags = {}) const {
    flags.insert(flags.end(), {"--rules", rules_});
    return {.flags = std::move(flags), .user = GetParam() != ::geteuid() ? std::optional(GetParam()) : std::nullopt};
  }

  std::string Path(const std::string& name) const { return work_.path() + "/" + name; }
  bool Exists(const std::string& name) const { return std::filesystem::exists(Path(name)); }

  std::string Run(McpClient& client, const std::string& script) {
    client.set_workdir(work_.path());
    return client.Shell(script).Text("output");
  }

  const ScratchDir work_{"/var/tmp"}, operator_{"/var/tmp"};
  const std::string rules_ = operator_.Write("test.rules", kRules);
};

TEST_P(McpRulesTest, RunsInsideWhatNoRuleNames) {
  McpClient client(Options());
  EXPECT_EQ(Run(client, "cp /dev/null copy 2>/dev/null || echo refused"), "refused\n");
}

TEST_P(McpRulesTest, RunsOutsideWhatARuleAllows) {
  McpClient client(Options());
  EXPECT_EQ(Run(client, "touch made; echo $?"), "0\n");
  EXPECT_TRUE(Exists("made"));
}

TEST_P(McpRulesTest, DeniesWhatARuleForbids) {
  McpClient client(Options());
  EXPECT_EQ(Run(client, "uname; echo $?"), "1\nExecution denied: The kernel is a secret.\n");
  EXPECT_THAT(Run(client, "hostname; echo $?"), StartsWith("1\nExecution denied: Execution forbidden by policy"));
}

TEST_P(McpRulesTest, SeesEveryCaller) {
  McpClient client(Options());
  for (const char* script : {"sh -c uname", "env -i uname", "perl -e 'system(\"uname\")'", "bash -c 'exec uname'",
                             "find /dev/null -exec uname ';'", "BASH_EXEC_WRAPPER= uname"}) {
    EXPECT_THAT(Run(client, script), HasSubstr("Execution denied: The kernel is a secret.")) << script;
  }
}

TEST_P(McpRulesTest, AsksAboutWhatARulePrompts) {
  McpClient client(Options());
  client.set_workdir(work_.path());
  const int64_t id = client.SendShell("mkdir 'a b'; echo $?");
  const Message question = client.Receive();
  EXPECT_THAT(question.Text("params.message"),
              MatchesRegex("Allow agent to run `[^ ]*/mkdir 'a b'` in `" + work_.path() +
                           "`\\?\nIt will run outside of the sandbox\\.\nIt makes a directory\\."));
  EXPECT_FALSE(Exists("a b"));
  client.Answer(question, "accept");
  EXPECT_EQ(client.ReceiveShell(id).Text("output"), "0\n");
  EXPECT_TRUE(Exists("a b"));
}

TEST_P(McpRulesTest, DeniesWhatTheUserDoesNotWant) {
  McpClient client(Options());
  client.set_workdir(work_.path());
  for (const auto& [action, reason] : {std::pair("decline", "declined"), std::pair("cancel", "cancelled")}) {
    const int64_t id = client.SendShell("mkdir a; echo $?");
    client.Answer(client.Receive(), action);
    EXPECT_EQ(client.ReceiveShell(id).Text("output"), fmt::format("1\nExecution denied: User {} execution\n", reason));
  }
  EXPECT_FALSE(Exists("a"));
}

TEST_P(McpRulesTest, AsksNobodyIfTheClientCannot) {
  McpOptions options = Options();
  options.capabilities = "{}";
  McpClient client(options);
  EXPECT_THAT(Run(client, "mkdir a; echo $?"),
              HasSubstr("1\nExecution denied: The rules require approval, and this client cannot ask"));
  EXPECT_FALSE(Exists("a"));
}

TEST_P(McpRulesTest, AsksAboutADangerousCommandWithoutARule) {
  McpClient client(Options());
  client.set_workdir(work_.path());
  const std::string file = work_.Write("file", "");
  const int64_t id = client.SendShell("rm -r -f " + file + "; echo $?");
  const Message question = client.Receive();
  EXPECT_THAT(question.Text("params.message"),
              AllOf(HasSubstr("rm -r -f " + file + "` in"), Not(HasSubstr("outside of the sandbox"))));
  client.Answer(question, "accept");
  EXPECT_THAT(client.ReceiveShell(id).Text("output"), StartsWith("1\nrm: cannot remove"));  // the sandbox is read-only
  EXPECT_TRUE(Exists("file"));
}

TEST_P(McpRulesTest, HasSeveralQuestionsOpen) {
  McpClient client(Options());
  client.set_workdir(work_.path());
  const int64_t id = client.SendShell("mkdir a & mkdir b & wait; ls");
  const Message first = client.Receive(), second = client.Receive();
  client.Answer(second, "accept");
  client.Answer(first, "accept");
  EXPECT_EQ(client.ReceiveShell(id).Text("output"), "a\nb\n");
}

TEST_P(McpRulesTest, WithdrawsTheQuestionOfACommandThatHasEnded) {
  McpClient client(Options());
  client.set_workdir(work_.path());
  const int64_t id = client.SendShell("timeout -s KILL 0.5 mkdir a; echo over");
  const Message question = client.Receive();
  const Message withdrawn = client.Receive();
  EXPECT_EQ(withdrawn.Text("method"), "notifications/cancelled");
  EXPECT_EQ(withdrawn.Number("params.requestId"), question.Number("id"));
  EXPECT_THAT(client.ReceiveShell(id).Text("output"), HasSubstr("over\n"));
  EXPECT_FALSE(Exists("a"));
}

TEST_P(McpRulesTest, StopsTheClockWhileAQuestionIsOpen) {
  McpClient client(Options());
  client.set_workdir(work_.path());
  for (const auto limit : kTimeLimits) {
    const int64_t id = client.SendShell("mkdir a; echo made", WithTimeLimit(limit));
    const Message question = client.Receive();
    if (!question.Has("method") && limit != kTimeLimits.back()) continue;  // it came too late
    EXPECT_TRUE(client.IsSilentFor(limit + 500ms));
    client.Answer(question, "accept");
    const Message result = client.ReceiveShell(id);
    EXPECT_EQ(result.Text("output"), "made\n");
    EXPECT_FALSE(result.Flag("timed_out"));
    EXPECT_GE(result.Number("duration.secs"), limit / 1s);
    break;
  }
}

TEST_P(McpRulesTest, KillsWhatRunsOutsideAtTheTimeLimit) {
  McpClient client(Options());
  const Message result = client.ShellUntilTimeLimit("echo begun; sleep 1000 & sleep 1000");
  EXPECT_TRUE(result.Flag("timed_out"));
  EXPECT_EQ(result.Text("output"), "begun\n");
  EXPECT_TRUE(Eventually([&] { return DescendantsOf(client.server().pid()).empty(); }));
}

// Returns how many processes of the server run `sleep`.
size_t SleepsOf(pid_t server) {
  size_t count = 0;
  for (const pid_t pid : DescendantsOf(server)) count += ReadProcFile(pid, "comm") == "sleep\n" ? 1 : 0;
  return count;
}

TEST_P(McpRulesTest, LeavesNothingOutsideWhenItsInputEnds) {
  McpClient client(Options());
  client.SendShell("sleep 1000 & sleep 1000 & echo begun; sleep 1000", kNoLimit, kProgress);
  EXPECT_EQ(client.Receive().Text("params.message"), "begun\n");
  EXPECT_TRUE(Eventually([&] { return SleepsOf(client.server().pid()) == 3; }));
  client.server().CloseInput();
  EXPECT_EQ(client.server().WaitForExit(), 0) << client.server().Stderr();
  EXPECT_TRUE(Eventually([] { return LivingWithVariable(RunMarker()).empty(); }));
}

TEST_P(McpRulesTest, LeavesNothingOutsideWhenItIsStopped) {
  McpClient client(Options());
  client.SendShell("echo begun; sleep 1000", kNoLimit, kProgress);
  EXPECT_EQ(client.Receive().Text("params.message"), "begun\n");
  EXPECT_TRUE(Eventually([&] { return SleepsOf(client.server().pid()) == 1; }));
  client.server().Signal(SIGTERM);
  EXPECT_EQ(client.server().WaitForExit(), 0) << client.server().Stderr();
  EXPECT_TRUE(Eventually([] { return LivingWithVariable(RunMarker()).empty(); }));
}

TEST_P(McpRulesTest, KillsWhatRunsOutsideOfACancelledCall) {
  McpClient client(Options());
  const int64_t id = client.SendShell("echo begun; sleep 1000", kNoLimit, kProgress);
  EXPECT_EQ(client.Receive().Text("params.message"), "begun\n");
  EXPECT_TRUE(Eventually([&] { return SleepsOf(client.server().pid()) == 1; }));
  client.Notify("notifications/cancelled", "{\"requestId\":" + std::to_string(id) + "}");
  EXPECT_TRUE(Eventually([&] { return DescendantsOf(client.server().pid()).empty(); }));
  EXPECT_EQ(Run(client, "echo on"), "on\n");
}

TEST_P(McpRulesTest, AppliesRulesWithoutASandboxToo) {
  McpClient client(Options({"--sandbox-policy", R"({"type":"danger-full-access"})"}));
  EXPECT_EQ(Run(client, "uname; cp /dev/null copy; echo $?"), "0\nExecution denied: The kernel is a secret.\n");
  EXPECT_TRUE(Exists("copy"));
}

TEST_P(McpRulesTest, WorksStrictlyToo) {
  McpClient client(Options({"--strict"}));
  EXPECT_EQ(Run(client, "touch made; uname; cat /dev/null; echo $?"), "0\nExecution denied: The kernel is a secret.\n");
  EXPECT_TRUE(Exists("made"));
}

// A program that is executed from a copy is executed by its absolute path.
TEST_P(McpRulesTest, ExecutesACopyOnlyIfItIsStrict) {
  const std::string script = work_.Write("script", "#!/bin/sh\necho \"$0\"\n", 0755);
  const auto name_seen = [&](const McpOptions& options) {
    McpClient client(options);
    return Run(client, "./script");
  };
  EXPECT_EQ(name_seen(Options()), "./script\n");
  EXPECT_EQ(name_seen(Options({"--strict"})), script + "\n");
}

TEST_P(McpRulesTest, ComparesWholePathsIfItIsTold) {
  const std::string whole = operator_.Write(
      "whole.rules", R"(prefix_rule(pattern=["/usr/bin/id"], decision="forbidden", justification="No."))");
  {
    McpClient client(Options({"--preserve-program-paths", "--rules", whole}));
    EXPECT_EQ(Run(client, "uname > /dev/null; echo $?"), "0\n");
    EXPECT_EQ(Run(client, "/usr/bin/id; echo $?"), "1\nExecution denied: No.\n");
  }
  McpClient other(Options({"--rules", whole}));
  EXPECT_THAT(Run(other, "/usr/bin/id"), StartsWith("uid="));
}

TEST_P(McpRulesTest, RefusesToStartWithABadRulesFile) {
  const std::string bad = operator_.Write("bad.rules", "prefix_rule(pattern=[])\n");
  const Finished finished = RunHoldfast({"mcp-server", "--rules", bad});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("bad.rules"));
  EXPECT_THAT(finished.out, IsEmpty());
  EXPECT_EQ(RunHoldfast({"mcp-server", "--rules", "/no/such.rules"}).exit_code, 1);
}

INSTANTIATE_TEST_SUITE_P(, McpRulesTest, testing::ValuesIn(std::set<uid_t>{::geteuid(), kNobody}),
                         [](const auto& info) {
                           return info.param == 0 ? "Root" : "User" + std::to_string(info.param);
                         });

}  // namespace
}  // namespace holdfast::support
