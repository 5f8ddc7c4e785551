// The built program holdfast-execve-wrapper against a server that the test plays, with messages of the shape that
// published servers send.
#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "escalate/scripted_peer.h"
#include "support/contents.h"
#include "support/eventually.h"
#include "support/proc.h"
#include "support/program.h"
#include "support/scratch_dir.h"
#include "sys/descriptor_passing.h"
#include "wire/json.h"

namespace holdfast::escalate {
namespace {

using support::Outcome;
using support::Program;
using testing::EndsWith;
using testing::HasSubstr;

using Words = std::vector<std::string>;

// The words of a wrapper whose environment has only these variables, and the number of its socket.
Words WrapperWords(const Words& arguments, const Words& variables = {"PATH=/usr/bin:/bin"}) {
  Words words = {"env", "-i", "-C", "/usr/lib", "CODEX_ESCALATE_SOCKET=3", "BASH_EXEC_WRAPPER=x", "EXEC_WRAPPER=y"};
  words.insert(words.end(), variables.begin(), variables.end());
  words.push_back(HOLDFAST_EXECVE_WRAPPER);
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

class WrapperProgramTest : public testing::Test {
 protected:
  // The wrapper hands over what it inherits, and the test may have inherited more than the standard streams itself.
  static void SetUpTestSuite() { ASSERT_EQ(::close_range(3, ~0u, CLOSE_RANGE_CLOEXEC), 0); }

  // Runs the wrapper, answers its request with `answer`, and returns how it ends.
  Outcome RunWith(const std::string& answer, const Words& arguments, const Words& variables = {"PATH=/usr/bin:/bin"}) {
    Program wrapper(WrapperWords(arguments, variables), server_.client_socket());
    ScriptedPeer peer = server_.Accept();
    request_ = peer.Receive();
    peer.Send(answer);
    return wrapper.Finish();
  }

  ScriptedServer server_;
  std::string request_;
  support::ScratchDir scratch_;
};

constexpr const char* kRun = R"({"action":"Run"})";

TEST_F(WrapperProgramTest, AsksForTheProgramThatItIsGiven) {
  const Outcome outcome = RunWith(kRun, {"/bin/echo", "argv0", "hello", "-x", "--", "y"}, {"FOO=bar"});
  EXPECT_EQ(request_,
            R"({"file":"/bin/echo","argv":["argv0","hello","-x","--","y"],"workdir":"/usr/lib","env":{"FOO":"bar"}})");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "hello -x -- y\n");
  EXPECT_EQ(outcome.err, "");
}

TEST_F(WrapperProgramTest, MakesAStreamThatDoesNotBlockForTheServer) {
  Program wrapper(WrapperWords({"/bin/true", "true"}), server_.client_socket());
  const ScriptedPeer peer = server_.Accept();
  EXPECT_NE(::fcntl(peer.fd(), F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(WrapperProgramTest, RunsAProgramThatHasNoArguments) {
  EXPECT_EQ(RunWith(kRun, {"/bin/echo"}).out, "\n");
  EXPECT_THAT(request_, HasSubstr(R"("argv":[],)"));
}

TEST_F(WrapperProgramTest, TakesEverythingBehindTheFileLiterally) {
  EXPECT_EQ(RunWith(kRun, {"/bin/echo", "--help", "--version", "-l"}).out, "--version -l\n");
}

TEST_F(WrapperProgramTest, RunsWithTheEnvironmentThatItHas) {
  EXPECT_EQ(RunWith(kRun, {"/usr/bin/env", "env"}, {"FOO=bar"}).out,
            "CODEX_ESCALATE_SOCKET=3\nBASH_EXEC_WRAPPER=x\nEXEC_WRAPPER=y\nFOO=bar\n");
}

TEST_F(WrapperProgramTest, LeavesNoDescriptorOfItsOwnToTheProgram) {
  EXPECT_EQ(RunWith(kRun, {"/bin/ls", "ls", "-1", "/proc/self/fd"}).out, "0\n1\n2\n3\n4\n");  // 4 is that of ls
}

TEST_F(WrapperProgramTest, WorksWithADatagramSocketThatDoesNotBlock) {
  ASSERT_EQ(::fcntl(server_.client_socket(), F_SETFL, O_RDWR | O_NONBLOCK), 0);
  EXPECT_EQ(RunWith(kRun, {"/bin/echo", "echo", "ok"}).out, "ok\n");
  EXPECT_NE(::fcntl(server_.client_socket(), F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(WrapperProgramTest, WaitsForAServerWhoseQueueIsFull) {
  ASSERT_EQ(::fcntl(server_.client_socket(), F_SETFL, O_RDWR | O_NONBLOCK), 0);
  const OwnedFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const int fd = null.get();
  size_t queued = 0;
  while (sys::TrySendDescriptors(server_.client_socket(), {&fd, 1}) == 0) ++queued;
  ASSERT_GT(queued, 0u);
  Program wrapper(WrapperWords({"/bin/echo", "echo", "late"}), server_.client_socket());
  // The wrapper waits in poll, the system call 7.
  EXPECT_TRUE(support::Eventually(
      [&] { return support::ReadProcFile(wrapper.pid(), "syscall").value_or("").starts_with("7 "); }));
  while (queued-- > 0) (void)server_.Accept();
  ScriptedPeer peer = server_.Accept();
  (void)peer.Receive();
  peer.Send(kRun);
  EXPECT_EQ(wrapper.Finish().out, "late\n");
}

TEST_F(WrapperProgramTest, CarriesManyArgumentsAndALargeEnvironment) {
  Words arguments = {"/bin/true", "true"};
  for (int i = 0; i < 20'000; ++i) arguments.push_back("argument" + std::to_string(i));
  const std::string large(100'000, 'v');
  EXPECT_EQ(RunWith(kRun, arguments, {"LARGE=" + large}).status, 0);
  wire::Document document;
  const auto json = document.Parse(request_);
  ASSERT_TRUE(json);
  EXPECT_EQ(json->Find("argv").size(), 20'001u);
  EXPECT_EQ(json->Find("argv").at(20'000).string(), "argument19999");
  EXPECT_EQ(json->Find("env").Find("LARGE").string(), large);
}

TEST_F(WrapperProgramTest, CarriesBytesThatAreNotUtf8) {
  EXPECT_EQ(RunWith(kRun, {"/bin/echo", "echo", "\xff\xfe"}).out, "\xff\xfe\n");
  EXPECT_THAT(request_, HasSubstr(R"("argvBase64":["ZWNobw==","//4="])"));
  EXPECT_EQ(RunWith(kRun, {"/usr/bin/printenv", "printenv", "BYTES"}, {"BYTES=\xff"}).out, "\xff\n");
  EXPECT_THAT(request_, HasSubstr(R"("envBase64":["QllURVM9/w=="])"));
}

TEST_F(WrapperProgramTest, RunsAScriptWithoutAnInterpreterLineByTheShell) {
  const std::string script = scratch_.Write("script", "echo \"$0 $# $2\"\nexit 7\n", 0755);
  const Outcome outcome = RunWith(kRun, {script, "script", "one", "two"});
  EXPECT_EQ(outcome.out, script + " 2 two\n");
  EXPECT_EQ(outcome.status, 7);
}

TEST_F(WrapperProgramTest, EndsAsAShellDoesWhenAProgramCannotBeExecuted) {
  const auto check = [&](const std::string& file, int status, const char* reason) {
    const Outcome outcome = RunWith(kRun, {file, "name"});
    EXPECT_EQ(outcome.status, status) << file;
    EXPECT_EQ(outcome.err, file + ": " + reason + "\n");
  };
  check(scratch_.path() + "/missing", 127, "No such file or directory");
  check(scratch_.Write("plain", "text", 0644), 126, "Permission denied");
  check(scratch_.path(), 126, "Permission denied");
  check("/dev/null/name", 126, "Not a directory");
  check(scratch_.Write("binary", std::string("\x01\0\x02", 3), 0755), 126,
        "cannot execute binary file: Exec format error");
  check(scratch_.Write("orphan", "#!/missing/interpreter\n", 0755), 127, "cannot execute: its interpreter is missing");
}

TEST_F(WrapperProgramTest, ShowsTheReasonOfADenial) {
  const Outcome denied = RunWith(R"({"action":{"Deny":{"reason":"because"}}})", {"/bin/echo", "echo"});
  EXPECT_EQ(denied.status, 1);
  EXPECT_EQ(denied.out, "");
  EXPECT_EQ(denied.err, "Execution denied: because\n");
  EXPECT_EQ(RunWith(R"({"action":{"Deny":{"reason":null}}})", {"/bin/echo", "echo"}).err,
            "Execution denied: Execution forbidden by policy\n");
}

TEST_F(WrapperProgramTest, NeverRunsAProgramWithoutAnAnswerThatItUnderstands) {
  for (const char* answer : {R"({"action":"Maybe"})", R"({"action":1})", "nonsense", ""}) {
    const Outcome outcome = RunWith(answer, {"/bin/echo", "echo", "ran"});
    EXPECT_EQ(outcome.status, 1) << answer;
    EXPECT_EQ(outcome.out, "") << answer;
    EXPECT_THAT(outcome.err, HasSubstr("holdfast-execve-wrapper: /bin/echo: ")) << answer;
  }
}

TEST_F(WrapperProgramTest, EndsWhenTheServerHangsUpInsteadOfAnAnswer) {
  Program wrapper(WrapperWords({"/bin/echo", "echo", "ran"}), server_.client_socket());
  ScriptedPeer peer = server_.Accept();
  (void)peer.Receive();
  peer.Close();
  const Outcome outcome = wrapper.Finish();
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "holdfast-execve-wrapper: /bin/echo: the server closed the connection without an answer\n");
}

TEST_F(WrapperProgramTest, SaysWhyAServerMayHaveHungUp) {
  Program wrapper(WrapperWords({"/bin/echo", "echo", "\xff"}), server_.client_socket());
  ScriptedPeer peer = server_.Accept();
  (void)peer.Receive();
  peer.Close();
  EXPECT_THAT(wrapper.Finish().err,
              HasSubstr("without an answer; it may not know arguments or variables that are not UTF-8"));
}

TEST(WrapperWithoutServerTest, RunsNothing) {
  const auto run = [](const Words& words) { return Program(words).Finish(); };
  const Outcome none = run({"env", "-u", "CODEX_ESCALATE_SOCKET", HOLDFAST_EXECVE_WRAPPER, "/bin/echo", "echo", "ran"});
  EXPECT_EQ(none.status, 1);
  EXPECT_EQ(none.out, "");
  EXPECT_EQ(none.err, "holdfast-execve-wrapper: /bin/echo: CODEX_ESCALATE_SOCKET is not set\n");
  for (const char* number : {"", "x", "-1", "99999", "1", "3 "}) {
    const Outcome wrong = run(
        {"env", std::string("CODEX_ESCALATE_SOCKET=") + number, HOLDFAST_EXECVE_WRAPPER, "/bin/echo", "echo", "ran"});
    EXPECT_EQ(wrong.status, 1) << number;
    EXPECT_EQ(wrong.out, "") << number;
  }
}

TEST(WrapperWithoutServerTest, ExplainsItself) {
  EXPECT_EQ(Program({HOLDFAST_EXECVE_WRAPPER}).Finish().status, 2);
  EXPECT_THAT(Program({HOLDFAST_EXECVE_WRAPPER, "--help"}).Finish().out, HasSubstr("usage: holdfast-execve-wrapper"));
  EXPECT_THAT(Program({HOLDFAST_EXECVE_WRAPPER, "--version"}).Finish().out, HasSubstr("holdfast-execve-wrapper 0."));
}

// A wrapper that the server has told to stand in for a command outside.
class EscalatedWrapperTest : public WrapperProgramTest {
 protected:
  Program& Escalate(const Words& words = WrapperWords({"/bin/echo", "echo"})) {
    wrapper_.emplace(words, server_.client_socket());
    peer_.emplace(server_.Accept());
    (void)peer_->Receive();
    peer_->Send(R"({"action":"Escalate"})");
    hand_over_ = peer_->Receive();
    return *wrapper_;
  }

  std::optional<Program> wrapper_;
  std::optional<ScriptedPeer> peer_;
  std::string hand_over_;
};

TEST_F(EscalatedWrapperTest, HandsOverTheStandardStreams) {
  Program& wrapper = Escalate();
  EXPECT_EQ(hand_over_, R"({"fds":[0,1,2]})");
  ASSERT_EQ(peer_->fds.size(), 3u);
  EXPECT_EQ(::write(peer_->fds[1].get(), "from outside\n", 13), 13);
  peer_->fds.clear();
  peer_->Send(R"({"exit_code":42})");
  const Outcome outcome = wrapper.Finish();
  EXPECT_EQ(outcome.status, 42);
  EXPECT_EQ(outcome.out, "from outside\n");
  EXPECT_EQ(outcome.err, "");
}

TEST_F(EscalatedWrapperTest, TakesTheExitCodeModulo256) {
  for (const auto& [sent, status] :
       std::vector<std::pair<int, int>>{{0, 0}, {255, 255}, {256, 0}, {-1, 255}, {300, 44}}) {
    Program& wrapper = Escalate();
    peer_->fds.clear();
    peer_->Send("{\"exit_code\":" + std::to_string(sent) + "}");
    EXPECT_EQ(wrapper.Finish().status, status) << sent;
  }
}

TEST_F(EscalatedWrapperTest, FailsWhenTheServerDies) {
  Program& wrapper = Escalate();
  peer_.reset();
  const Outcome outcome = wrapper.Finish();
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "");
}

// A server would use its own stream for one that is missing.
TEST_F(EscalatedWrapperTest, HandsOverDevNullInThePlaceOfAClosedStream) {
  Escalate({"env", "CODEX_ESCALATE_SOCKET=3", "sh", "-c", "exec \"$0\" /bin/echo echo <&-", HOLDFAST_EXECVE_WRAPPER});
  EXPECT_EQ(hand_over_, R"({"fds":[0,1,2]})");
  struct stat null, passed;
  ASSERT_EQ(::stat("/dev/null", &null), 0);
  ASSERT_EQ(::fstat(peer_->fds.at(0).get(), &passed), 0);
  EXPECT_EQ(passed.st_rdev, null.st_rdev);
}

TEST_F(EscalatedWrapperTest, DiesByASignalOfItsOwn) {
  Program& wrapper = Escalate();
  peer_->fds.clear();
  wrapper.Signal(SIGTERM);
  EXPECT_EQ(peer_->Receive(), "END");
  EXPECT_EQ(wrapper.Finish().status, 128 + SIGTERM);
}

}  // namespace
}  // namespace holdfast::escalate
