// Tests of process/start with an execPolicy: every program that the process executes runs, is taken out of the sandbox
// or is refused, as the rules and the client say.
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/exec_policy_fixture.h"
#include "sandbox/confine/landlock.h"
#include "sandbox/jail/landlock_stage.h"
#include "support/eventually.h"
#include "support/proc.h"

namespace holdfast::support {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr int64_t kInvalidParams = -32602;

using ExecPolicyTest = ExecPolicyFixture;

TEST_F(ExecPolicyTest, IsAnnounced) {
  EXPECT_TRUE(client_.Call("environment/info").Flag("result.capabilities.execPolicy"));
}

TEST_F(ExecPolicyTest, RunsInsideWhatNoRuleNames) {
  const Ended ended = Run(Judged("p", TouchElsewhere() + "; /usr/bin/touch made; exit $?", ""));
  EXPECT_EQ(ended.exit_code, 0) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("Read-only file system"));
  EXPECT_TRUE(fs::exists(In("made")));
  EXPECT_FALSE(MadeElsewhere());
}

TEST_F(ExecPolicyTest, TakesOutOfTheSandboxWhatARuleAllows) {
  const Ended ended = Run(Judged("p", TouchElsewhere() + "; exit $?", Rule("/usr/bin/touch", "allow")));
  EXPECT_EQ(ended.exit_code, 0) << ended.output;
  EXPECT_TRUE(MadeElsewhere());
}

TEST_F(ExecPolicyTest, RefusesWhatARuleForbidsAndSaysWhy) {
  const std::string rule = Rule("/usr/bin/touch", "forbidden", R"(, justification="Make no files.")");
  const Ended ended = Run(Judged("p", "/usr/bin/touch made; exit $?", rule));
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.output, HasSubstr("Execution denied: Make no files."));
  EXPECT_FALSE(fs::exists(In("made")));
}

TEST_F(ExecPolicyTest, JudgesTheCommandItself) {
  StartRequest request = Judged("p", "", Rule("/usr/bin/touch", "forbidden"));
  request.argv = {"/usr/bin/touch", "made"};
  const Ended ended = Run(request);
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.output, HasSubstr("Execution denied"));
  EXPECT_FALSE(fs::exists(In("made")));
}

TEST_F(ExecPolicyTest, AStartThatFailsIsReportedAsEver) {
  StartRequest request = Judged("p", "", "");
  request.argv = {"/no/such/program"};
  EXPECT_THAT(ReasonOf(request), HasSubstr("No such file or directory"));
}

TEST_F(ExecPolicyTest, WorksWithoutASandbox) {
  const std::string rules = RulesFile("r", Rule("/usr/bin/touch", "forbidden") + Rule("/usr/bin/id", "allow"));
  const Ended ended = Run(With(Shell("p", TouchElsewhere() + "; /usr/bin/id -u && echo done"), Policy(rules)));
  EXPECT_THAT(ended.output, AllOf(HasSubstr("Execution denied"), HasSubstr("done")));
  EXPECT_FALSE(MadeElsewhere());
  EXPECT_FALSE(ended.denied) << "no sandbox could have denied anything";
}

TEST_F(ExecPolicyTest, AsksTheClientWhatTheRulesLeaveOpen) {
  const std::string rule = Rule("/usr/bin/touch", "prompt", R"(, justification="Files need a look.")");
  client_.Start(Judged("p", TouchElsewhere() + "; exit $?", rule));
  const Message question = Asked(client_, "p");
  EXPECT_EQ(question.Text("params.file"), "/usr/bin/touch");
  EXPECT_EQ(question.Text("params.argv.0"), "/usr/bin/touch");
  EXPECT_EQ(question.Text("params.argv.1"), Elsewhere("made"));
  EXPECT_EQ(question.Text("params.cwd"), workspace_.path());
  EXPECT_EQ(question.Text("params.reason"), "Files need a look.");
  EXPECT_THAT(question.Text("params.rule"), HasSubstr("/usr/bin/touch"));
  EXPECT_EQ(question.Text("params.proposed"), "escalate");
  EXPECT_FALSE(MadeElsewhere());
  Decide(client_, question, "escalate");
  EXPECT_EQ(client_.WaitForExit("p"), 0) << client_.Output("p");
  EXPECT_TRUE(MadeElsewhere());
}

TEST_F(ExecPolicyTest, AnApprovedProgramRunsWhereTheClientSays) {
  const Ended inside = RunAnswered("inside", R"("result":{"decision":"run"})");
  EXPECT_THAT(inside.output, HasSubstr("Read-only file system"));
  EXPECT_FALSE(MadeElsewhere());
  EXPECT_EQ(RunAnswered("outside", R"("result":{"decision":"escalate"})").exit_code, 0);
  EXPECT_TRUE(MadeElsewhere());
}

TEST_F(ExecPolicyTest, DeniesWithTheReasonOfTheClient) {
  const Ended ended = RunAnswered("p", R"("result":{"decision":"deny","reason":"Not today."})");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.output, HasSubstr("Execution denied: Not today."));
  EXPECT_THAT(RunAnswered("q", R"("result":{"decision":"deny"})").output, HasSubstr("User declined execution"));
  // The reason does not command the terminal that the command writes to.
  EXPECT_THAT(RunAnswered("r", R"("result":{"decision":"deny","reason":"\u001b[2Jno"})").output,
              HasSubstr("Execution denied: \\x1b[2Jno"));
  EXPECT_FALSE(MadeElsewhere());
}

TEST_F(ExecPolicyTest, DeniesAfterAnAnswerThatIsNotUnderstood) {
  for (const auto& [id, answer] : std::vector<std::pair<std::string, std::string>>{
           {"unknown", R"("result":{"decision":"perhaps"})"},
           {"empty", R"("result":{})"},
           {"error", R"("error":{"code":-32601,"message":"unknown method"})"}}) {
    const Ended ended = RunAnswered(id, answer);
    EXPECT_EQ(ended.exit_code, 1) << id;
    EXPECT_THAT(ended.output, HasSubstr("Execution denied: ")) << id;
  }
  EXPECT_FALSE(MadeElsewhere());
}

// A client refuses messages with very many values, and would lose its connection by such a question.
TEST_F(ExecPolicyTest, DeniesWhatIsTooLongForAQuestion) {
  const std::string many = "$(yes a | head -n 70000)", long_ones = "$x$x $x$x $x$x";
  const std::string script = "x=$(head -c 60000 /dev/zero | tr '\\0' x); exec 2>&1; " + TouchElsewhere() + " ";
  for (const std::string& words : {many, long_ones}) {
    const auto ended = Run(Judged(words == many ? "many" : "long", script + words, Rule("/usr/bin/touch", "prompt")));
    EXPECT_THAT(ended.output, HasSubstr("The command is too long for a question to the client"));
    EXPECT_FALSE(MadeElsewhere());
  }
}

TEST_F(ExecPolicyTest, DeniesWithoutAnAnswerInTime) {
  const ServerProcess impatient = ServerProcess::Start({"--approval-timeout-ms", "50"});
  RpcClient client = RpcClient::Ready(impatient.url());
  client.Start(Judged("p", TouchElsewhere() + "; exit $?", Rule("/usr/bin/touch", "prompt")));
  EXPECT_EQ(client.WaitForExit("p"), 1);
  EXPECT_THAT(client.WaitForClosed("p"), HasSubstr("No answer came in time"));
  EXPECT_FALSE(MadeElsewhere());
}

TEST_F(ExecPolicyTest, DeniesWithoutAClient) {
  RpcClient driver = RpcClient::Ready(server_.url(), R"("shared":true,"sessionName":"left")");
  StartRequest request = Judged("p", "", Rule("/usr/bin/touch", "prompt"));
  request.argv = {"/bin/bash", "-c", "echo ready; read < go; " + TouchElsewhere() + "; echo $? > status"};
  ASSERT_EQ(::mkfifo(In("go").c_str(), 0600), 0);
  driver.Start(request);
  driver.WaitForOutput("p", "ready");
  driver.Disconnect();
  const auto left = [&] { return client_.Call("session/list").Number("result.sessions.1.connections") == 0; };
  ASSERT_TRUE(Eventually(left));
  ASSERT_EQ(Program({"bash", "-c", "echo > " + In("go")}).Finish().status, 0);
  ASSERT_TRUE(Eventually([&] { return fs::exists(In("status")) && !Contents(In("status")).empty(); }));
  EXPECT_EQ(Contents(In("status")), "1\n");
  EXPECT_FALSE(MadeElsewhere());
}

TEST_F(ExecPolicyTest, AsksAgainAfterAReconnect) {
  client_.Start(Judged("p", TouchElsewhere() + "; exit $?", Rule("/usr/bin/touch", "prompt")));
  (void)Asked(client_, "p");
  client_.Disconnect();
  std::unique_ptr<RpcClient> resumed;
  ASSERT_TRUE(Eventually([&] {
    resumed = std::make_unique<RpcClient>(OpenChannel(server_.url()));
    return resumed->Initialize(R"("resumeSessionId":)" + Quoted(client_.session_id())).Has("result");
  }));
  resumed->Notify("initialized");
  Decide(*resumed, Asked(*resumed, "p"), "escalate");
  EXPECT_EQ(resumed->WaitForExit("p"), 0) << resumed->Output("p");
  EXPECT_TRUE(MadeElsewhere());
}

TEST_F(ExecPolicyTest, AsksTheDriverAndNoObserver) {
  const std::string name = R"("shared":true,"sessionName":"watched")";
  RpcClient driver = RpcClient::Ready(server_.url(), name), observer = RpcClient::Ready(server_.url(), name);
  driver.Start(Judged("p", TouchElsewhere() + "; exit $?", Rule("/usr/bin/touch", "prompt")));
  (void)Asked(driver, "p");
  EXPECT_TRUE(observer.Call("process/list").Has("result"));
  EXPECT_FALSE(observer.HasNotification("exec/approve", "p"));
  // The question goes with the role.
  EXPECT_TRUE(observer.Call("session/takeOver").Has("result"));
  Decide(observer, Asked(observer, "p"), "escalate");
  EXPECT_EQ(observer.WaitForExit("p"), 0);
  EXPECT_TRUE(MadeElsewhere());
}

TEST_F(ExecPolicyTest, StrictRulesRunProgramsAsTheyWereJudged) {
  const Ended ended = Run(Judged("p", "/usr/bin/touch made; /usr/bin/id -u > id; exit $?",
                                 Rule("/usr/bin/cat", "forbidden"), R"(,"strict":true)"));
  EXPECT_EQ(ended.exit_code, 0) << ended.output;
  EXPECT_TRUE(fs::exists(In("made")));
  EXPECT_EQ(Contents(In("id")), fmt::format("{}\n", ::geteuid()));
}

// The judged copy of a relative path is absolute, and a script sees the path by which it was executed.
TEST_F(ExecPolicyTest, OnlyUnderStrictRulesIsTheJudgedCopyExecuted) {
  workspace_.Write("script", "#!/bin/sh\necho \"$0\"\n", 0755);
  EXPECT_EQ(Run(Judged("strict", "./script", "", R"(,"strict":true)")).output, In("script") + "\n");
  EXPECT_EQ(Run(Judged("lax", "./script", "", R"(,"strict":false)")).output, "./script\n");
  EXPECT_EQ(Run(Judged("absent", "./script", "")).output, "./script\n");
}

// In a sandbox with its own mounts and its own /proc. The base name is allowed, which must not help.
TEST_F(ExecPolicyTest, AForbiddenProgramIsRefusedUnderEveryName) {
  const std::string rules = Rule("/usr/bin/touch", "forbidden", R"(, justification="Make no files.")") +
                            Rule("touch", "allow") + Rule("made-link", "allow");
  const std::vector<std::string> names = {
      "/usr/bin/./touch",
      "//usr/bin/touch",
      "/usr/bin/../bin/touch",
      "/proc/self/root/usr/bin/touch",
      "/proc/self/cwd/made-link",
      "./made-link",
      "cd /usr/bin; ./touch",
      "cd /usr/bin; /proc/self/cwd/touch",
      "cd /usr/bin; /proc/thread-self/cwd/touch",
      "exec 5< /usr/bin; /proc/self/fd/5/touch",
      "exec 5< /usr/bin/touch; /dev/fd/5",
      "/proc/1/root/usr/bin/touch",
  };
  for (const std::string_view strict : {"", R"(,"strict":true)"}) {
    for (size_t i = 0; i < names.size(); ++i) {
      const std::string script = "ln -sf /usr/bin/touch made-link; " + names[i] + " " + In("made") + "; exit $?";
      const Ended ended = Run(Judged(fmt::format("p{}{}", i, strict.size()), script, rules, strict));
      EXPECT_THAT(ended.output, HasSubstr("Execution denied: Make no files.")) << names[i] << strict;
      EXPECT_FALSE(fs::exists(In("made"))) << names[i] << strict;
    }
  }
}

// A link of the command to a program of the host does not take that program out.
TEST_F(ExecPolicyTest, ALinkIsTakenOutNeitherByItsNameNorByThatOfItsTarget) {
  for (const char* allowed : {"touch", "link", "/usr/bin/touch"}) {
    const std::string script = "ln -sf /usr/bin/touch link; ./link " + Elsewhere("made") + "; exit $?";
    const Ended ended =
        Run(Judged(fmt::format("p{}", std::string_view(allowed).size()), script, Rule(allowed, "allow")));
    EXPECT_THAT(ended.output, HasSubstr("Read-only file system")) << allowed;
    EXPECT_FALSE(MadeElsewhere());
  }
}

// The program belongs to somebody else, who may put anything there. The server runs as an ordinary user.
TEST_F(ExecPolicyTest, AProgramOfAnotherUserIsTakenOutOnlyIfItIsNamed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root makes files of another user";
  constexpr uid_t kEve = 54321;
  const ServerProcess server = ServerProcess::Start({.user = kNobody});
  client_ = RpcClient::Ready(server.url());
  // Not in a directory for temporary files, which everybody may write.
  const ScratchDir home("/var/lib");
  const std::string program = home.path() + "/touch";
  fs::copy("/usr/bin/touch", program);
  ASSERT_EQ(::chmod(home.path().c_str(), 0755), 0);
  for (const std::string& path : {program, home.path()}) ASSERT_EQ(::chown(path.c_str(), kEve, kEve), 0);
  GiveToUser({workspace_.path(), elsewhere_.path(), rules_.path()});
  const auto run = [&](const std::string& id, const std::string& rules) {
    StartRequest request = Judged(id, program + " " + Elsewhere("made") + "; exit $?", rules);
    GiveToUser({rules_.path() + "/" + id + ".rules"});
    return Run(request).exit_code;
  };
  EXPECT_NE(run("by-name", Rule("touch", "allow")), 0);
  EXPECT_FALSE(MadeElsewhere());
  EXPECT_EQ(run("listed", Rule("touch", "allow") + "host_executable('touch', ['" + program + "'])\n"), 0);
  EXPECT_TRUE(MadeElsewhere());
  fs::remove(Elsewhere("made"));
  EXPECT_EQ(run("by-path", Rule(program, "allow")), 0);
  EXPECT_TRUE(MadeElsewhere());
}

TEST_F(ExecPolicyTest, ARuleByBaseNameAppliesToAPath) {
  const Ended denied = Run(Judged("denied", "/usr/bin/touch made; exit $?", Rule("touch", "forbidden")));
  EXPECT_THAT(denied.output, HasSubstr("Execution denied"));
  EXPECT_FALSE(fs::exists(In("made")));
  const Ended allowed = Run(Judged("allowed", TouchElsewhere() + "; exit $?", Rule("touch", "allow")));
  EXPECT_EQ(allowed.exit_code, 0) << allowed.output;
  EXPECT_TRUE(MadeElsewhere());
}

TEST_F(ExecPolicyTest, HostExecutableKeepsAnotherPathInside) {
  const auto listed = [](std::string_view path) {
    return Rule("touch", "allow") + fmt::format("host_executable(name=\"touch\", paths=[\"{}\"])\n", path);
  };
  const Ended inside = Run(Judged("inside", TouchElsewhere() + "; exit $?", listed("/opt/bin/touch")));
  EXPECT_THAT(inside.output, HasSubstr("Read-only file system"));
  EXPECT_FALSE(MadeElsewhere());
  EXPECT_EQ(Run(Judged("outside", TouchElsewhere() + "; exit $?", listed("/usr/bin/touch"))).exit_code, 0);
  EXPECT_TRUE(MadeElsewhere());
}

TEST_F(ExecPolicyTest, EachProcessHasItsOwnRules) {
  client_.Start(Judged("a", "/usr/bin/touch a; /usr/bin/id -u", Rule("/usr/bin/touch", "forbidden")));
  client_.Start(Judged("b", "/usr/bin/touch b; /usr/bin/id -u", Rule("/usr/bin/id", "forbidden")));
  const std::string id = fmt::format("{}\n", ::geteuid());
  EXPECT_THAT(client_.WaitForClosed("a"), AllOf(HasSubstr("Execution denied"), HasSubstr(id)));
  EXPECT_THAT(client_.WaitForClosed("b"), AllOf(HasSubstr("Execution denied"), Not(HasSubstr(id))));
  EXPECT_FALSE(fs::exists(In("a")));
  EXPECT_TRUE(fs::exists(In("b")));
}

TEST_F(ExecPolicyTest, RefusesAPolicyThatCannotBeUsed) {
  const auto refused = [&](const std::string& policy) {
    const Message refusal = Refusal(With(Inside("p", "echo ran"), policy));
    EXPECT_EQ(refusal.error_code(), kInvalidParams) << policy;
    return refusal.Text("error.message");
  };
  const std::string bad = RulesFile("bad.rules", "prefix_rule(pattern=[\"a\"], decision=\"perhaps\")\n");
  EXPECT_THAT(refused(Policy(bad)), AllOf(HasSubstr(bad), HasSubstr("perhaps")));
  EXPECT_THAT(refused(Policy("/no/such.rules")), HasSubstr("/no/such.rules: No such file or directory"));
  EXPECT_THAT(refused(Policy(rules_.path())), HasSubstr("not a regular file"));
  EXPECT_THAT(refused(Policy("relative.rules")), HasSubstr("execPolicy.rules"));
  EXPECT_THAT(refused(Policy(bad, R"(,"strcit":true)")), HasSubstr("strcit"));
  EXPECT_THAT(refused(R"("execPolicy":{})"), HasSubstr("rules"));
  EXPECT_EQ(Run(Inside("p", "exit 3")).exit_code, 3) << "the id is free";
}

TEST_F(ExecPolicyTest, ReadsRulesThatHaveChanged) {
  const std::string file = RulesFile("r", "");
  for (const auto& [id, rules, status] : std::vector<std::tuple<std::string, std::string, int>>{
           {"a", "", 0}, {"b", Rule("/usr/bin/id", "forbidden"), 1}, {"c", "# none\n", 0}}) {
    RulesFile("r", rules);
    EXPECT_EQ(Run(With(Inside(id, "/usr/bin/id; exit $?"), Policy(file))).exit_code, status) << id;
  }
}

TEST_F(ExecPolicyTest, RequestsWaitForAStartThatReadsItsRules) {
  StartRequest request = Judged("p", "cat", "");
  request.pipe_stdin = true;
  const int64_t start = client_.Send("process/start", request.Params());
  const int64_t write = client_.Send("process/write", WriteParams("p", "text\n"));
  const int64_t second = client_.Send("process/start", request.Params());
  EXPECT_EQ(client_.Await(write).Text("result.status"), "accepted");
  EXPECT_TRUE(client_.Await(start).Has("result"));
  EXPECT_TRUE(client_.Await(second).Has("error")) << "the id is taken";
  client_.WaitForOutput("p", "text\n");
  EXPECT_TRUE(client_.Call("process/terminate", IdParams("p")).Flag("result.running"));
}

// A program outside of the sandbox belongs to the process that wanted to execute it.
TEST_F(ExecPolicyTest, LeavesNothingOutsideWhenTheProcessIsKilled) {
  client_.Start(Judged("p", "/usr/bin/sleep 1000", Rule("/usr/bin/sleep", "allow")));
  const auto sleeps = [&] {
    for (const pid_t pid : DescendantsOf(server_.pid())) {
      if (ReadProcFile(pid, "cmdline").value_or("").starts_with("/usr/bin/sleep")) return pid;
    }
    return pid_t{-1};
  };
  ASSERT_TRUE(Eventually([&] { return sleeps() > 0; }));
  const pid_t outside = sleeps();
  EXPECT_TRUE(client_.Call("process/terminate", IdParams("p")).Flag("result.running"));
  EXPECT_TRUE(Eventually([&] { return !IsAlive(outside); }));
}

// A process is kept for a while after its end, so that its output can be read.
TEST_F(ExecPolicyTest, AFinishedProcessHasNoSupervisor) {
  Run(Judged("first", "exit 0", ""));
  const size_t before = CountFds(server_.pid());
  for (const char* id : {"a", "b", "c"}) Run(Judged(id, "exit 0", ""));
  EXPECT_TRUE(Eventually([&] { return CountFds(server_.pid()) <= before; })) << CountFds(server_.pid());
}

TEST_F(ExecPolicyTest, LeavesNothingWhenTheServerIsKilled) {
  client_.Start(Judged("p", "/usr/bin/sleep 1000", Rule("/usr/bin/sleep", "allow")));
  client_.Start(Judged("q", TouchElsewhere(), Rule("/usr/bin/touch", "prompt")));
  (void)Asked(client_, "q");
  server_.Kill();
  EXPECT_TRUE(Eventually([] { return LivingWithVariable(RunMarker()).empty(); }));
  EXPECT_FALSE(MadeElsewhere());
}

TEST_F(ExecPolicyTest, AProcessThatWaitsForAnAnswerCanBeKilled) {
  client_.Start(Judged("p", TouchElsewhere(), Rule("/usr/bin/touch", "prompt")));
  const Message question = Asked(client_, "p");
  EXPECT_TRUE(client_.Call("process/terminate", IdParams("p")).Flag("result.running"));
  Decide(client_, question, "escalate");  // too late
  EXPECT_TRUE(client_.Call("process/list").Has("result"));
  EXPECT_FALSE(MadeElsewhere());
}

// Under Landlock alone there are no mounts: the stub, which takes the place of a program, must be executable there too.
class LandlockExecPolicyTest : public ExecPolicyFixture {
 protected:
  void SetUp() override {
    if (!sandbox::CheckLandlockAbi(sandbox::LandlockAbi())) GTEST_SKIP() << "the kernel's Landlock is too old";
  }
  Ended RunJudged(const std::string& id, std::string script, const std::string& rules, std::string_view more = "") {
    const StartRequest request = InSandbox(Shell(id, std::move(script)), ReadOnly(), R"(,"useLegacyLandlock":true)");
    return Run(With(request, Policy(RulesFile(id + ".rules", rules), more)));
  }
};

TEST_F(LandlockExecPolicyTest, RefusesWhatARuleForbids) {
  const Ended ended =
      RunJudged("p", "/usr/bin/id -u; exit $?", Rule("/usr/bin/id", "forbidden", R"(, justification="Do not ask.")"));
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.output, HasSubstr("Execution denied: Do not ask."));
}

TEST_F(LandlockExecPolicyTest, TakesOutOfTheSandboxWhatARuleAllows) {
  const Ended inside = RunJudged("inside", TouchElsewhere() + "; exit $?", "");
  EXPECT_NE(inside.exit_code, 0);
  EXPECT_THAT(inside.output, HasSubstr("Permission denied"));
  EXPECT_FALSE(MadeElsewhere());
  const Ended outside = RunJudged("outside", TouchElsewhere() + "; exit $?", Rule("/usr/bin/touch", "allow"));
  EXPECT_EQ(outside.exit_code, 0) << outside.output;
  EXPECT_TRUE(MadeElsewhere());
}

TEST_F(LandlockExecPolicyTest, AStrictlyExecutedProgramStaysInside) {
  if (::geteuid() != 0) GTEST_SKIP() << "strict rules are refused to an ordinary user here";
  const Ended ended = RunJudged("p", "/usr/bin/id -u && " + TouchElsewhere() + "; exit $?", "", R"(,"strict":true)");
  EXPECT_NE(ended.exit_code, 0);
  EXPECT_THAT(ended.output, AllOf(HasSubstr(fmt::format("{}\n", ::geteuid())), HasSubstr("Permission denied")));
  EXPECT_FALSE(MadeElsewhere());
}

// Without privileges and without a user namespace the supervisor cannot tell its stub from other programs that cannot
// be read. Rules that are not strict do not depend on that.
TEST_F(LandlockExecPolicyTest, RefusesStrictRulesToAnOrdinaryUser) {
  const ServerOptions options = {.user = ::geteuid() == 0 ? std::optional(kNobody) : std::nullopt};
  const ServerProcess server = ServerProcess::Start(options);
  client_ = RpcClient::Ready(server.url());
  const StartRequest sandboxed = InSandbox(Shell("p", "exit 3"), ReadOnly(), R"(,"useLegacyLandlock":true)");
  const std::string rules = RulesFile("p.rules", "");
  GiveToUser({workspace_.path(), rules_.path(), rules});
  const Message refusal = Refusal(With(sandboxed, Policy(rules, R"(,"strict":true)")));
  EXPECT_EQ(refusal.Number("error.code"), kInvalidParams);
  EXPECT_EQ(refusal.Text("error.message"),
            "execPolicy: strict rules need a sandbox with namespaces, or a server that runs as root");
  EXPECT_EQ(Run(With(sandboxed, Policy(rules))).exit_code, 3);
}

// A server without privileges may inspect the processes in its sandboxes because they descend from it.
TEST_F(ExecPolicyTest, WorksForAnOrdinaryUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "every other test shows it";
  const ServerProcess server = ServerProcess::Start({.user = kNobody});
  client_ = RpcClient::Ready(server.url());
  const StartRequest request =
      Judged("p", TouchElsewhere() + "; /usr/bin/id -u; /usr/bin/stat -c %u made; exit $?",
             Rule("/usr/bin/touch", "allow") + Rule("/usr/bin/stat", "forbidden") + Rule("/usr/bin/id", "prompt"),
             R"(,"strict":true)");
  GiveToUser({workspace_.path(), elsewhere_.path(), rules_.path(), rules_.path() + "/p.rules"});
  client_.Start(request);
  Decide(client_, Asked(client_, "p"), "run");
  EXPECT_EQ(client_.WaitForExit("p"), 1);
  EXPECT_THAT(client_.WaitForClosed("p"), AllOf(HasSubstr("65534\n"), HasSubstr("Execution denied")));
  struct stat made = {};
  ASSERT_EQ(::stat(Elsewhere("made").c_str(), &made), 0);
  EXPECT_EQ(made.st_uid, kNobody);
}

}  // namespace
}  // namespace holdfast::support
