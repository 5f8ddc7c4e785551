// Tests of how a sandbox starts and ends, as the process sees it that starts the helper.
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "support/eventually.h"
#include "support/proc.h"
#include "support/program.h"
#include "support/sandbox_workspace.h"
#include "sys/io.h"

namespace holdfast::support {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Strings = std::vector<std::string>;

// Returns the first child that is bubblewrap. A child that has executed the inner stage is bubblewrap no more.
std::optional<pid_t> BubblewrapOf(pid_t parent) {
  std::istringstream children(ReadProcFile(parent, fmt::format("task/{}/children", parent)).value_or(""));
  for (pid_t child; children >> child;) {
    if (ReadProcFile(child, "cmdline").value_or("").starts_with("bwrap")) return child;
  }
  return std::nullopt;
}

std::string ReadToEnd(int fd) {
  std::string text;
  for (;;) {
    pollfd ready = {fd, POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(kPatience.count())) <= 0) {
      ADD_FAILURE() << "no end after: " << text;
      return text;
    }
    char buffer[4096];
    const ssize_t n = sys::Read(fd, buffer, sizeof buffer);
    if (n <= 0) return text;
    text.append(buffer, static_cast<size_t>(n));
  }
}

// A helper with a pipe for its report.
struct ReportingHelper {
  explicit ReportingHelper(const Strings& words) : program(words, pipe.write_end.get()) { pipe.write_end.Reset(); }

  std::string ReadReport() const { return ReadToEnd(pipe.read_end.get()); }

  sys::Pipe pipe = *sys::MakePipe(sys::OurEnd::kRead);
  Program program;
};

class SandboxStartTest : public testing::TestWithParam<SandboxCase> {
 protected:
  void SetUp() override {
    if (const std::string reason = workspace_.WhyNot(); !reason.empty()) GTEST_SKIP() << reason;
  }

  // Returns the helper's command line with more flags and another command.
  Strings Words(const Strings& flags, const Strings& command) const {
    Strings words = workspace_.InsideWords("true");
    words.erase(std::ranges::find(words, "--permission-profile") + 3, words.end());
    words.insert(words.end(), command.begin(), command.end());
    words.insert(std::ranges::find(words, "--sandbox-policy-cwd"), flags.begin(), flags.end());
    return words;
  }
  Strings Script(const std::string& script) const { return workspace_.InsideWords(script); }

  Strings Reporting(const Strings& command, Strings flags = {}) const {
    flags.insert(flags.end(), {"--report-fd", "3"});
    return Words(flags, command);
  }

  bool IsNative() const { return GetParam().means == Means::kNative; }
  std::string Started() const { return IsNative() ? "started native\n" : "started bubblewrap\n"; }

  // Returns the process that builds the sandbox, and the process that becomes pid 1 of it.
  std::optional<pid_t> BuilderOf(pid_t helper) const {
    return IsNative() ? FirstProcessBelow(helper) : BubblewrapOf(helper);
  }
  std::optional<pid_t> FirstOf(pid_t helper) const {
    const auto builder = BuilderOf(helper);
    return builder && !IsNative() ? BubblewrapOf(*builder) : builder;
  }
  // Returns whether pid 1 has not started the command yet.
  bool IsInSetUp(pid_t first) const {
    return IsNative() ? ChildrenOf(first).empty() : ReadProcFile(first, "cmdline").value_or("").starts_with("bwrap");
  }

  void Touch(const std::string& name) const { EXPECT_EQ(workspace_.Outside("touch " + name).status, 0); }

  SandboxWorkspace workspace_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(, SandboxStartTest, testing::ValuesIn(UsersWith({Means::kNative, Means::kSystemBubblewrap})),
                         CaseName);

// The command still runs when the report ends: no process holds the pipe open, and the command least of all.
TEST_P(SandboxStartTest, ReportsThatTheCommandIsStarted) {
  ReportingHelper start(Reporting({"bash", "-c", "ls /proc/$$/fd; while ! [ -e end ]; do sleep 0.01; done; exit 7"}));
  EXPECT_EQ(start.ReadReport(), Started());
  Touch("end");
  const Outcome outcome = start.program.Finish();
  EXPECT_EQ(outcome.status, 7) << outcome.err;
  EXPECT_THAT(outcome.out, testing::Not(HasSubstr("3\n")));
}

TEST_P(SandboxStartTest, ReportsWhyTheCommandIsNotStarted) {
  ReportingHelper missing(Reporting({"/no/such/program"}));
  EXPECT_EQ(missing.ReadReport(), "failed 127 exec /no/such/program: No such file or directory\n");
  EXPECT_EQ(missing.program.Finish().status, 127);
  ReportingHelper directory(Reporting({"/"}));
  EXPECT_EQ(directory.ReadReport(), "failed 126 exec /: Permission denied\n");
  ReportingHelper nowhere(Reporting({"true"}, {"--command-cwd", "/no/such/directory"}));
  EXPECT_EQ(nowhere.ReadReport(), "failed 1 chdir /no/such/directory: No such file or directory\n");
  EXPECT_EQ(nowhere.program.Finish().status, 1);
}

// In a sandbox inside of a sandbox, the outer filter allows no namespaces.
TEST_P(SandboxStartTest, SaysWhyItCannotStart) {
  Strings nested = Script("echo ran");
  nested.erase(nested.begin(), std::ranges::find(nested, "env"));  // the user is the right one already
  const Outcome outcome = Program(Words({}, nested)).Finish();
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err,
              StartsWith(IsNative() ? "holdfast-linux-sandbox: the native backend does not work here: clone3: "
                                    : "holdfast-linux-sandbox: bwrap: "));
}

TEST_P(SandboxStartTest, ReportsOnceWhenTheBuilderIsKilled) {
  int failed = 0;
  for (int i = 0; i < 20 || (failed == 0 && i < 1000); ++i) {
    ReportingHelper start(Reporting({"true"}));
    const pid_t helper = start.program.pid();
    std::optional<pid_t> builder;
    while (!builder && IsAlive(helper)) builder = BuilderOf(helper);
    if (builder) ::kill(*builder, SIGKILL);
    const std::string report = start.ReadReport();
    EXPECT_EQ(std::ranges::count(report, '\n'), 1) << report;
    if (report == Started()) continue;
    ++failed;
    EXPECT_THAT(report, StartsWith("failed 1 "));
    EXPECT_EQ(start.program.Finish().status, 1);
  }
  EXPECT_GT(failed, 0) << "then it was never killed in time";
}

// The test stops pid 1 of the sandbox while it still builds the sandbox, so that the signal comes before the command.
TEST_P(SandboxStartTest, ATerminationDuringTheSetUpIsNotLost) {
  int caught = 0;
  for (int i = 0; i < 1000 && caught == 0; ++i) {
    Program helper(Script("exec sleep 1000"));
    std::optional<pid_t> first;
    for (int looks = 0; !first && looks < 100000; ++looks) first = FirstOf(helper.pid());
    if (!first) continue;
    ::kill(*first, SIGSTOP);
    if (IsInSetUp(*first)) ++caught;
    helper.Signal(SIGTERM);
    const auto is_taken = [&] {
      return ReadProcFile(helper.pid(), "status").value_or("").contains("ShdPnd:\t0000000000000000");
    };
    EXPECT_TRUE(Eventually(is_taken));
    ::kill(*first, SIGCONT);
    EXPECT_EQ(helper.Finish().status, 128 + SIGTERM);
  }
  EXPECT_GT(caught, 0) << "then there was nothing to see";
}

// The helper is killed at any moment, also while the sandbox is built. All processes of the sandbox have the variable
// in their environment.
TEST_P(SandboxStartTest, NothingRunsAfterAKillOfTheHelper) {
  const std::string mark = fmt::format("HOLDFAST_TEST={}", workspace_.path());
  workspace_.AddVariable(mark);
  const Strings words = Script("sleep 1000");
  for (int i = 0; i < 60; ++i) {
    Program helper(words);
    ::usleep(static_cast<useconds_t>(i) * 1000);
    helper.Signal(SIGKILL);
    EXPECT_EQ(helper.Finish().status, 128 + SIGKILL);
  }
  EXPECT_TRUE(Eventually([&] { return LivingWithVariable(mark).empty(); })) << LivingWithVariable(mark).size();
}

// The helper, pid 1 and the reaper go on running, and none of them holds the output open.
TEST_P(SandboxStartTest, TheEndOfTheOutputIsSeenWhenTheCommandClosesIt) {
  const auto out = sys::MakePipe(sys::OurEnd::kRead);
  const Strings words = Script("exec >&- 2>&-; while ! [ -e end ]; do sleep 0.01; done; exit 4");
  const pid_t helper = ::fork();
  if (helper == 0) {
    ::dup2(out->write_end.get(), STDOUT_FILENO);
    ::dup2(out->write_end.get(), STDERR_FILENO);
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    ::execvp(argv[0], argv.data());
    ::_exit(99);
  }
  const_cast<OwnedFd&>(out->write_end).Reset();
  EXPECT_EQ(ReadToEnd(out->read_end.get()), "");
  EXPECT_TRUE(IsAlive(helper));
  Touch("end");
  int status = 0;
  EXPECT_EQ(::waitpid(helper, &status, 0), helper);
  EXPECT_EQ(WEXITSTATUS(status), 4);
}

TEST_P(SandboxStartTest, ACallerThatIgnoresItsChildrenMayStartIt) {
  Strings words = {"bash", "-c", "trap '' CHLD; exec \"$@\"", "sh"};
  const Strings helper = Script("exit 6");
  words.insert(words.end(), helper.begin(), helper.end());
  EXPECT_EQ(Program(words).Finish().status, 6);
}

}  // namespace
}  // namespace holdfast::support
