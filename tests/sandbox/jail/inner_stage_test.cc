#include "sandbox/jail/inner_stage.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/confine/landlock.h"
#include "sandbox/jail/inner_stage_fixture.h"
#include "sys/io.h"

namespace holdfast::sandbox {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;
using testing::Not;

class InnerStageTest : public InnerStageFixture {};

TEST_F(InnerStageTest, PassesTheExitCodeOn) {
  EXPECT_EQ(Shell("exit 0").status, 0);
  EXPECT_EQ(Shell("exit 7").status, 7);
  EXPECT_EQ(Shell("exit 255").status, 255);
}

TEST_F(InnerStageTest, CountsSignalsFrom128) {
  EXPECT_EQ(Shell("kill -SEGV $$").status, 128 + SIGSEGV);
  EXPECT_EQ(Shell("kill -KILL $$").status, 128 + SIGKILL);
}

TEST_F(InnerStageTest, GivesTheCommandItsArguments) {
  const Outcome outcome = Finish(Orders({"printf", "%s|", "", "a b", "\xff"}));
  EXPECT_EQ(outcome.out, "|a b|\xff|");
}

TEST_F(InnerStageTest, FindsProgramsByPath) {
  scratch_.Write("bin/tool", "#!/bin/sh\necho found\n", 0755);
  RunningStage stage(Orders({"tool"}), [&] { ::setenv("PATH", (scratch_.path() + "/bin:/bin").c_str(), 1); });
  EXPECT_EQ(stage.Finish().out, "found\n");
}

TEST_F(InnerStageTest, RunsAScriptThatNamesNoInterpreterByTheShell) {
  const std::string script = scratch_.Write("script", "echo $0 $1\n", 0755);
  const Outcome outcome = Finish(Orders({script, "x"}));
  EXPECT_EQ(outcome.out, script + " x\n");
}

TEST_F(InnerStageTest, SaysThatAProgramIsMissing) {
  for (const char* name : {"no-such-program", "/no/such/program"}) {
    const Outcome outcome = Finish(Orders({name}));
    EXPECT_EQ(outcome.status, 127);
    EXPECT_EQ(outcome.err, fmt::format("holdfast-linux-sandbox: exec {}: No such file or directory\n", name));
  }
}

TEST_F(InnerStageTest, CallsAProgramMissingAlsoWhenADirectoryOfThePathIsClosed) {
  ASSERT_EQ(::mkdir((scratch_.path() + "/closed").c_str(), 0), 0);
  const auto set_path = [&] { ::setenv("PATH", (scratch_.path() + "/closed:/bin").c_str(), 1); };
  EXPECT_EQ(RunningStage(Orders({"no-such-program"}), set_path).Finish().status, 127);
  ASSERT_EQ(::rmdir((scratch_.path() + "/closed").c_str()), 0);
  scratch_.Write("text", "");
  const auto set_other = [&] { ::setenv("PATH", scratch_.path().c_str(), 1); };
  EXPECT_EQ(RunningStage(Orders({"text"}), set_other).Finish().status, 126);
}

TEST_F(InnerStageTest, SaysThatAFileCannotBeExecuted) {
  const std::string file = scratch_.Write("file", "text");
  const Outcome outcome = Finish(Orders({file}));
  EXPECT_EQ(outcome.status, 126);
  EXPECT_EQ(outcome.err, "holdfast-linux-sandbox: exec " + file + ": Permission denied\n");
  EXPECT_EQ(Finish(Orders({scratch_.path()})).status, 126);
}

TEST_F(InnerStageTest, RunsInTheWorkingDirectory) { EXPECT_EQ(Shell("pwd").out, scratch_.path() + "\n"); }

TEST_F(InnerStageTest, SaysThatTheWorkingDirectoryIsMissing) {
  InnerOrders orders = Script("echo ran");
  orders.command.cwd = "/no/such/directory";
  const Outcome outcome = Finish(orders);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "holdfast-linux-sandbox: chdir /no/such/directory: No such file or directory\n");
  EXPECT_EQ(outcome.out, "");
}

TEST_F(InnerStageTest, RefusesToBeAnythingButPid1) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(STDERR_FILENO);
    ::_exit(RunInnerStage(Script("true")));
  }
  EXPECT_EQ(StatusOf(child), kRefusedStatus);
}

// Neither the command nor pid 1, which the command might reach, has capabilities.
TEST_F(InnerStageTest, LeavesNoCapabilitiesAndNoWayToGainAny) {
  for (const char* pid : {"self", "1"}) {
    const std::string status = Shell(fmt::format("cat /proc/{}/status", pid)).out;
    for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) {
      EXPECT_THAT(status, HasSubstr(fmt::format("\n{}:\t0000000000000000\n", set)));
    }
    EXPECT_THAT(status, HasSubstr("\nNoNewPrivs:\t1\n"));
    EXPECT_THAT(status, HasSubstr("\nSeccomp:\t2\n"));
  }
}

TEST_F(InnerStageTest, KeepsNoCapabilityOfWhoHadThemAmbient) {
  const auto raise_all = [] {
    for (unsigned long capability = 0; capability < 8; ++capability) {
      ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0);
    }
  };
  RunningStage stage(Script("grep '^Cap' /proc/self/status"), raise_all);
  EXPECT_THAT(stage.Finish().out, Not(testing::ContainsRegex("[1-9a-f]\n")));
}

// The command gets answers to the same questions about a process of its own.
TEST_F(InnerStageTest, LetsNobodyLookIntoPid1) {
  for (const char* question : {"cat /proc/{}/environ", "cat /proc/{}/maps", "cat /proc/{}/auxv",
                               "ls /proc/{}/map_files/", "readlink /proc/{}/cwd", "readlink /proc/{}/root",
                               "readlink /proc/{}/exe", "readlink /proc/{}/ns/mnt", "true < /proc/{}/mem"}) {
    EXPECT_NE(Shell(fmt::format(fmt::runtime(question), "1")).status, 0) << question;
    if (!std::string_view(question).contains("map_files")) {  // which needs a capability
      EXPECT_EQ(Shell(fmt::format(fmt::runtime(question), "self")).status, 0) << question;
    }
  }
}

// Soon after the start pid 1 has no descriptor of the command's open. It has its own, for signals and for the questions
// of the filter. Only root, which owns the directory, can list the numbers of pid 1's descriptors.
TEST_F(InnerStageTest, HasNothingOfTheCommandsOpenInPid1) {
  const Outcome outcome = Shell(
      "count() { ls /proc/1/fd | wc -l; }; for i in $(seq 100); do [ $(count) -le 3 ] && break; sleep 0.05; done; "
      "count");
  EXPECT_EQ(outcome.out, ::geteuid() == 0 ? "3\n" : "0\n") << outcome.err;
}

TEST_F(InnerStageTest, LetsNobodyKillOrStopPid1) { EXPECT_EQ(Shell("kill -KILL 1; kill -STOP 1; exit 5").status, 5); }

TEST_F(InnerStageTest, ClosesWhatIsNotToPass) {
  const auto open_some = [] {
    for (const int fd : {3, 10, 200}) ::dup2(STDIN_FILENO, fd);
  };
  RunningStage stage(Script("ls /proc/$$/fd"), open_some);
  EXPECT_EQ(stage.Finish().out, "0\n1\n2\n");
}

TEST_F(InnerStageTest, PassesTheDescriptorsThatAreKept) {
  const std::string file = scratch_.Write("file", "kept");
  InnerOrders orders = Script("ls /proc/$$/fd; cat <&7");
  orders.kept_fds = {7, 200};
  const auto open_them = [&] {
    const int source = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    for (const int fd : {7, 200}) ::dup3(source, fd, O_CLOEXEC);
    for (const int fd : {3, 100, 300}) ::dup2(source, fd);
  };
  EXPECT_EQ(RunningStage(orders, open_them).Finish().out, "0\n1\n2\n200\n7\nkept");
}

TEST_F(InnerStageTest, RefusesToPassWhatIsNotOpen) {
  InnerOrders orders = Script("echo ran");
  orders.kept_fds = {700};
  const Outcome outcome = Finish(orders);
  EXPECT_EQ(outcome.status, kRefusedStatus);
  EXPECT_THAT(outcome.err, HasSubstr("descriptor 700"));
}

// A directory that was opened outside leads around the mounts inside.
TEST_F(InnerStageTest, RefusesADirectoryAsStandardInput) {
  RunningStage stage(Script("echo ran"), [] { ::dup2(::open("/", O_RDONLY | O_CLOEXEC), STDIN_FILENO); });
  const Outcome outcome = stage.Finish();
  EXPECT_EQ(outcome.status, kRefusedStatus);
  EXPECT_THAT(outcome.err, HasSubstr("descriptor 0: is a directory"));
}

TEST_F(InnerStageTest, OpensStandardStreamsThatAreClosed) {
  RunningStage stage(Script("readlink /proc/$$/fd/0 /proc/$$/fd/2"), [] {
    ::close(STDIN_FILENO);
    ::close(STDERR_FILENO);
  });
  EXPECT_EQ(stage.Finish().out, "/dev/null\n/dev/null\n");
}

// The reader sees the end of file while the command still runs, so pid 1 does not hold the pipe open.
TEST_F(InnerStageTest, HoldsNoneOfTheCommandsStreams) {
  RunningStage stage(Script("exec >&- 2>&-; while ! [ -e end ]; do sleep 0.01; done; exit 4"));
  EXPECT_EQ(ReadAll(stage.out()), "");
  scratch_.Write("end", "");
  EXPECT_EQ(stage.Finish().status, 4);
}

TEST_F(InnerStageTest, StartsTheCommandWithFreshSignals) {
  const auto spoil = [] {
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGCHLD, SIG_IGN);
    // posix_spawn leaves the signals that libc reserves for itself ignored like this.
    struct {
      void (*handler)(int) = SIG_IGN;
      unsigned long flags = 0;
      void* restorer = nullptr;
      unsigned long mask = 0;
    } const ignored;
    for (int signal : {32, 33}) ::syscall(SYS_rt_sigaction, signal, &ignored, nullptr, sizeof ignored.mask);
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
  };
  RunningStage stage(Script("grep -E 'Sig(Blk|Ign)' /proc/self/status; exit 3"), spoil);
  const Outcome outcome = stage.Finish();
  EXPECT_EQ(outcome.out, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
  EXPECT_EQ(outcome.status, 3);
}

TEST_F(InnerStageTest, GivesTheCommandASessionAndAGroup) {
  EXPECT_EQ(Shell("read -r pid name state parent group session rest < /proc/self/stat;"
                  "echo $parent $session; [ $group -eq $$ ] && echo leads")
                .out,
            "1 1\nleads\n");
}

TEST_F(InnerStageTest, KeepsToItsLandlockRules) {
  if (LandlockAbi() == 0) GTEST_SKIP() << "the kernel has no Landlock, or it is not enabled";
  const support::ScratchDir outside;
  const std::string script = fmt::format("echo x > inside && ! echo x > {}/file", outside.path());
  EXPECT_EQ(Shell(script).status, 0);
  InnerOrders orders = Script(script);
  orders.landlock = {{"/", LandlockRule::Rights::kWrite}};
  EXPECT_EQ(Finish(orders).status, 1);
}

TEST_F(InnerStageTest, KeepsToItsFilter) {
  const std::string script = "python3 -c 'import socket; socket.socket(socket.AF_INET)' 2> /dev/null";
  InnerOrders orders = Script(script);
  orders.filter = Filter::kOpenNetwork;
  if (Finish(orders).status != 0) GTEST_SKIP() << "needs python3";
  EXPECT_NE(Shell(script).status, 0);
}

TEST_F(InnerStageTest, RunsWhatShellsDoWithPipesAndNames) {
  EXPECT_EQ(Finish(Orders({"bash", "-c", "cat < <(echo a); echo b > >(cat); wait $!; echo c > /dev/stderr"})).out,
            "a\nb\n");
  EXPECT_EQ(Shell("echo a | tee /dev/stdout; echo b > /dev/stdout; cat /dev/stdin").out, "a\na\nb\n");
}

TEST_F(InnerStageTest, ReapsWhatIsLeftToIt) {
  const Outcome outcome = Shell(
      "for i in 1 2 3; do (true & echo $!) ; done > pids;"
      "while read pid; do while [ -e /proc/$pid ]; do sleep 0.01; done; done < pids; echo none");
  EXPECT_EQ(outcome.out, "none\n");
}

// The end of file shows that no process is left that holds the pipe.
TEST_F(InnerStageTest, KillsWhatTheCommandLeavesBehind) {
  const Outcome outcome = Shell(
      "setsid sh -c 'trap \"\" TERM HUP; echo up > up; sleep 1000' &"
      "while ! [ -e up ]; do sleep 0.01; done; exit 6");
  EXPECT_EQ(outcome.status, 6);
}

// Returns the report of the stage, followed by its exit status.
std::string ReportOf(const InnerOrders& given, BuiltIn built_in = nullptr) {
  const auto pipe = sys::MakePipe(sys::OurEnd::kRead);
  InnerOrders orders = given;
  orders.report_fd = pipe->write_end.get();
  const pid_t stage = CloneFirstProcess([&] { return RunInnerStage(orders, built_in); });
  const_cast<OwnedFd&>(pipe->write_end).Reset();
  const std::string report = ReadAll(pipe->read_end.get());
  return fmt::format("{}{}", report, StatusOf(stage));
}

TEST_F(InnerStageTest, ReportsTheStart) {
  InnerOrders orders = Script("exit 3");
  EXPECT_EQ(ReportOf(orders), "started\n3");
  orders.enforcement = {.backend = "bubblewrap", .reason = "no other works"};
  EXPECT_EQ(ReportOf(orders), "started bubblewrap no other works\n3");
}

TEST_F(InnerStageTest, ReportsWhyThereIsNone) {
  EXPECT_EQ(ReportOf(Orders({"/no/such/program"})), "failed 127 exec /no/such/program: No such file or directory\n127");
  InnerOrders orders = Script("exit 3");
  orders.command.cwd = "/no/such/directory";
  EXPECT_EQ(ReportOf(orders), "failed 1 chdir /no/such/directory: No such file or directory\n1");
  orders = Script("exit 3");
  orders.mounts = {{.path = scratch_.path(), .kind = MountCheck::Kind::kWritable, .outside = {}}};
  EXPECT_THAT(ReportOf(orders), testing::MatchesRegex("failed 101 mount .*\n101"));
}

// The entries keep their order, also malformed ones.
TEST_F(InnerStageTest, GivesTheCommandItsEnvironment) {
  InnerOrders orders = Orders({"/bin/cat", "/proc/self/environ"});
  orders.environment = {"A=1", "B=\xff=", "A=2", "odd", "=x"};
  EXPECT_EQ(Finish(orders).out, "A=1\0B=\xff=\0A=2\0odd\0=x\0"s);
  orders.environment.emplace();
  EXPECT_EQ(Finish(orders).out, "");
}

TEST_F(InnerStageTest, LooksForProgramsWithTheEnvironmentOfTheCommand) {
  scratch_.Write("bin/tool", "#!/bin/sh\necho found\n", 0755);
  InnerOrders orders = Orders({"tool"});
  orders.environment = {"PATH=" + scratch_.path() + "/bin"};
  EXPECT_EQ(Finish(orders).out, "found\n");
}

TEST_F(InnerStageTest, PutsStreamsInTheirPlaces) {
  InnerOrders orders = Script("echo out; echo err >&2; ls /proc/$$/fd");
  orders.streams = {.in = 10, .out = 12, .err = 11};
  RunningStage stage(orders, [] {
    ::dup2(STDIN_FILENO, 10);
    ::dup2(STDERR_FILENO, 12);  // stdout and stderr are exchanged
    ::dup2(STDOUT_FILENO, 11);
  });
  const Outcome outcome = stage.Finish();
  EXPECT_EQ(outcome.err, "out\n0\n1\n2\n");
  EXPECT_EQ(outcome.out, "err\n");
}

// The built-in function is confined as a command is, and runs in a process of its own.
int LookAround(const std::vector<std::string>& absent, const std::vector<std::string>&) {
  if (absent != std::vector<std::string>{"/absent"}) return 105;
  if (::getpid() == 1 || ::getpgrp() != ::getpid()) return 100;
  for (int fd = 3; fd < 64; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) return 100 + fd;
  }
  if (::prctl(PR_GET_SECCOMP) != 2 || ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) return 101;
  if (::prctl(PR_CAPBSET_READ, 0) != 0) return 102;
  if (LandlockAbi() > 0 && ::open("/tmp", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600) >= 0) return 103;
  return ::write(STDOUT_FILENO, "built in\n", 9) == 9 && ::open("made", O_CREAT | O_CLOEXEC, 0600) >= 0 ? 42 : 104;
}

TEST_F(InnerStageTest, RunsWhatIsBuiltIn) {
  InnerOrders orders = Orders({});
  orders.built_in = true;
  orders.absent = {"/absent"};
  EXPECT_EQ(ReportOf(orders, LookAround), "started\n42");
  EXPECT_EQ(ReportOf(orders), "failed 101 inner stage: no file helper is built into this program\n101");
}

}  // namespace
}  // namespace holdfast::sandbox
