#include "sandbox/run_main.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/confine/landlock.h"
#include "sandbox/jail/landlock_stage.h"
#include "support/exec_supervisor.h"
#include "support/scratch_dir.h"
#include "sys/io.h"

namespace holdfast::sandbox {
namespace {

using testing::ElementsAre;
using testing::StartsWith;
using Strings = std::vector<std::string>;

const std::string kDisabled = R"({"type":"disabled"})";
const std::string kUnrestricted = R"({"type":"managed","file_system":{"type":"unrestricted"},"network":"restricted"})";
const std::string kReadOnly =
    R"({"type":"managed","file_system":{"type":"restricted","entries":[)"
    R"({"path":{"type":"special","value":{"kind":"root"}},"access":"read"}]},"network":"restricted"})";

// What is built in: writes a file where it stands, and ends with 0 or the errno.
int WriteHere(const Strings&, const Strings&) {
  const int fd = ::open("made", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  return fd < 0 ? errno : 0;
}

struct End {
  int status;
  std::string report, err;
};

std::string ReadSome(int fd) {
  char text[4096];
  const ssize_t size = sys::Read(fd, text, sizeof text);
  return {text, size > 0 ? static_cast<size_t>(size) : 0};
}

class RunMainTest : public testing::Test {
 protected:
  // In a process of its own, with the end of a pipe for the report.
  End Run(const std::string& profile, const Strings& more, BuiltIn fs_helper = &WriteHere) {
    Strings words = {"/dir/helper", "--sandbox-policy-cwd", dir_.path(), "--report-fd", "100"};
    if (!profile.empty()) words.insert(words.end(), {"--permission-profile", profile});
    words.insert(words.end(), more.begin(), more.end());
    return RunWords(std::move(words), fs_helper);
  }

  static End RunWords(Strings words, BuiltIn fs_helper = &WriteHere, const std::function<void()>& meanwhile = [] {}) {
    auto report = sys::MakePipe(sys::OurEnd::kRead);
    auto err = sys::MakePipe(sys::OurEnd::kRead);
    const pid_t child = ::fork();
    if (child == 0) {
      ::dup2(report->write_end.get(), 100);
      ::dup2(err->write_end.get(), STDERR_FILENO);
      RunInChild(words, fs_helper);
    }
    report->write_end.Reset();
    err->write_end.Reset();
    meanwhile();
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, ReadSome(report->read_end.get()),
            ReadSome(err->read_end.get())};
  }

  // Runs a command whose execs are all allowed, and collects their paths in `executed_`.
  End RunSupervised(const std::string& profile, const Strings& more) {
    support::ExecSupervisor supervisor;
    Strings words = {"/dir/helper",
                     "--sandbox-policy-cwd",
                     dir_.path(),
                     "--report-fd",
                     "100",
                     "--exec-supervisor-fd",
                     std::to_string(supervisor.helper_end().get()),
                     "--permission-profile",
                     profile};
    words.insert(words.end(), more.begin(), more.end());
    executed_.clear();
    return RunWords(std::move(words), &WriteHere, [&] {
      supervisor.helper_end().Reset();
      if (!supervisor.ReceiveListener()) return;
      supervisor.Confirm();
      while (const auto path = supervisor.Continue()) executed_.push_back(*path);
    });
  }

  bool Made() const { return ::access((dir_.path() + "/made").c_str(), F_OK) == 0; }

  support::ScratchDir dir_;
  Strings executed_;

 private:
  [[noreturn]] static void RunInChild(Strings& words, BuiltIn fs_helper) noexcept {
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    ::_exit(RunMain(static_cast<int>(argv.size()), argv.data(), fs_helper));
  }
};

TEST_F(RunMainTest, WhatIsBuiltInRunsHereWhenNoSandboxIsAskedFor) {
  for (const std::string& profile : {kDisabled, kUnrestricted}) {
    const End end = Run(profile, {"--fs-helper"});
    EXPECT_EQ(end.status, 0);
    EXPECT_EQ(end.report, "started\n");
    EXPECT_TRUE(Made());
    ::unlink((dir_.path() + "/made").c_str());
  }
}

TEST_F(RunMainTest, WhatIsBuiltInRunsUnderLandlock) {
  if (!CheckLandlockAbi(LandlockAbi())) GTEST_SKIP() << "the kernel's Landlock is too old";
  const End end = Run(kReadOnly, {"--use-legacy-landlock", "--fs-helper"});
  EXPECT_EQ(end.status, EACCES);
  EXPECT_EQ(end.report, "started landlock\n");
  EXPECT_FALSE(Made());
}

TEST_F(RunMainTest, AProgramWithoutItRefusesTheFlag) {
  const End end = Run(kDisabled, {"--fs-helper"}, nullptr);
  EXPECT_EQ(end.status, 2);
  EXPECT_EQ(end.report, "failed 2 --fs-helper is not built into this program\n");
}

TEST_F(RunMainTest, EveryFailureIsReported) {
  EXPECT_EQ(Run(kDisabled, {"--no-such-flag"}).report, "failed 2 unknown flag --no-such-flag\n");
  EXPECT_EQ(Run("", {"--", "true"}).report, "failed 101 --permission-profile is missing\n");
  EXPECT_EQ(Run(kDisabled, {}).report, "failed 101 no command to run\n");
  EXPECT_THAT(Run("{", {"--", "true"}).report, StartsWith("failed 2 permission profile: "));
  EXPECT_EQ(Run(kDisabled, {"--", "no-such-command"}).report,
            "executing\nfailed 127 exec no-such-command: No such file or directory\n");
  EXPECT_EQ(Run(kDisabled, {"--", "/"}).report, "executing\nfailed 126 exec /: Permission denied\n");
  EXPECT_EQ(Run(kDisabled, {"--command-cwd", "/none-such", "--", "true"}).report,
            "failed 1 chdir /none-such: No such file or directory\n");
}

TEST_F(RunMainTest, SpeaksByTheNameItWasCalledBy) { EXPECT_EQ(Run(kDisabled, {}).err, "helper: no command to run\n"); }

// A descriptor that is only a part of the word would be another one.
TEST_F(RunMainTest, TheInnerStageTakesNothingButADescriptor) {
  for (const std::string word : {"x", "", "100x", "-1"}) {
    const End end = RunWords({"/proc/self/fd/9", "inner-stage", word});
    EXPECT_EQ(end.status, 101);
    EXPECT_EQ(end.err, "holdfast-linux-sandbox: \"" + word + "\" is not a file descriptor\n");
  }
}

TEST_F(RunMainTest, FailuresUnderLandlockAreReported) {
  if (!CheckLandlockAbi(LandlockAbi())) GTEST_SKIP() << "the kernel's Landlock is too old";
  EXPECT_EQ(Run(kReadOnly, {"--use-legacy-landlock", "--", "no-such-command"}).report,
            "executing landlock\nfailed 127 exec no-such-command: No such file or directory\n");
  EXPECT_EQ(Run(kReadOnly, {"--use-legacy-landlock", "--command-cwd", "/none-such", "--", "true"}).report,
            "failed 1 chdir /none-such: No such file or directory\n");
}

TEST_F(RunMainTest, ACommandWithoutASandboxIsSupervised) {
  const End end = RunSupervised(kDisabled, {"--", "/bin/sh", "-c", "/bin/true; exit 3"});
  EXPECT_EQ(end.status, 3) << end.err;
  EXPECT_EQ(end.report, "executing\n");
  EXPECT_THAT(executed_, ElementsAre("/bin/sh", "/bin/true"));
  EXPECT_EQ(RunSupervised(kDisabled, {"--", "/no/such/program"}).report,
            "executing\nfailed 127 exec /no/such/program: No such file or directory\n");
}

TEST_F(RunMainTest, ACommandUnderLandlockIsSupervised) {
  if (!CheckLandlockAbi(LandlockAbi())) GTEST_SKIP() << "the kernel's Landlock is too old";
  const End end = RunSupervised(kReadOnly, {"--use-legacy-landlock", "--", "/bin/sh", "-c", "/bin/true; echo > made"});
  EXPECT_NE(end.status, 0);
  EXPECT_EQ(end.report, "executing landlock\n");
  EXPECT_THAT(executed_, ElementsAre("/bin/sh", "/bin/true"));
  EXPECT_FALSE(Made());
}

TEST_F(RunMainTest, NothingRunsWithoutTheSupervisor) {
  support::ExecSupervisor supervisor;
  supervisor.HangUp();
  const End end =
      Run(kDisabled, {"--exec-supervisor-fd", std::to_string(supervisor.helper_end().get()), "--", "touch", "made"});
  EXPECT_EQ(end.status, 1);
  EXPECT_EQ(end.report, "failed 1 execve supervision: the supervisor has ended before it took the command over\n");
  EXPECT_FALSE(Made());
}

TEST_F(RunMainTest, ACommandInheritsTheDescriptorThatItKeeps) {
  const OwnedFd kept(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 50));
  const std::string number = std::to_string(kept.get());
  const Strings words = {"--keep-fd", number, "--", "sh", "-c", "test -e /proc/self/fd/" + number};
  EXPECT_EQ(Run(kDisabled, words).status, 0);
  EXPECT_NE(Run(kDisabled, {words.begin() + 2, words.end()}).status, 0);
  if (!CheckLandlockAbi(LandlockAbi())) GTEST_SKIP() << "the kernel's Landlock is too old";
  Strings under_landlock = words;
  under_landlock.insert(under_landlock.begin(), "--use-legacy-landlock");
  EXPECT_EQ(Run(kReadOnly, under_landlock).status, 0);
}

TEST_F(RunMainTest, ACommandThatRunsClosesTheReport) {
  const End end = Run(kDisabled, {"--", "sh", "-c", "exit 3"});
  EXPECT_EQ(end.status, 3);
  EXPECT_EQ(end.report, "executing\n");
  // The descriptor, which is 100, is not the command's.
  EXPECT_NE(Run(kDisabled, {"--", "sh", "-c", "test -e /proc/self/fd/100"}).status, 0);
}

}  // namespace
}  // namespace holdfast::sandbox
