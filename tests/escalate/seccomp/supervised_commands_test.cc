// Commands of many kinds do the same under a supervisor as without one, whatever is decided about them. A supervisor
// that did nothing would pass that comparison, so each test also counts what the supervisor has done.
#include <sys/stat.h>

#include <ostream>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "escalate/seccomp/supervised_fixture.h"
#include "support/required_program.h"

namespace holdfast::escalate {
namespace {

using exec_policy::Action;

// The ways by which a command can run.
enum class Way { kRun, kStrict, kEscalated };

struct Case {
  std::string name;
  std::string program;  // the test is skipped without it
  Words words;
  size_t outside;            // the commands that run outside if `env` does
  size_t left_to_shell = 0;  // programs that the kernel cannot execute, so that a shell reads them instead
  // Executions that may come to nothing: the process executes a program by another thread first, or a signal kills it.
  size_t overtaken = 0, killed = 0;
};

Words Bash(const std::string& script) { return {"/bin/bash", "-c", script}; }

void PrintTo(const Case& command, std::ostream* out) { *out << command.name; }

const Case kCases[] = {
    {"ExitCode", "bash", Bash("env true; env false; echo $?; sh -c 'exit 42'"), 2},
    {"Signal", "bash",
     Bash("exec 2>/dev/null; (env sh -c 'kill -KILL $$'); echo $?; (env sh -c 'kill -SEGV $$'); echo $?"), 2},
    {"DiesBySignal", "bash", Bash("exec env sh -c 'kill -TERM $$'"), 1},
    {"Dash", "dash", {"/bin/dash", "-c", "env echo one; env sh -c 'exit 3'; echo $?"}, 2},
    {"Zsh", "zsh", {"/usr/bin/zsh", "-f", "-c", "env echo one; env sh -c 'exit 3'; echo $?"}, 2},
    {"Subprocess",
     "python3",
     {"/usr/bin/python3", "-c",
      "import subprocess as s; r=s.run(['env','sh','-c','cat; exit 5'],input=b'in',capture_output=True); print(r)"},
     1},
    {"PosixSpawn",
     "python3",
     {"/usr/bin/python3", "-c",
      "import os; p=os.posix_spawn('/usr/bin/env',['env','sh','-c','exit 6'],os.environ); print(os.waitpid(p,0)[1])"},
     1},
    {"System", "python3", {"/usr/bin/python3", "-c", "import os; print(os.system('env sh -c \"exit 7\"'))"}, 1},
    {"Perl",
     "perl",
     {"/usr/bin/perl", "-e", "print `env echo hi`; system('env', 'sh', '-c', 'exit 4'); print $? >> 8"},
     2},
    {"Node",
     "node",
     {"/usr/bin/node", "-e",
      "const r=require('child_process').spawnSync('env',['sh','-c','echo $0; exit 9']); console.log(r.status,String(r."
      "stdout))"},
     1},
    {"Find", "find", {"/usr/bin/find", "/etc/passwd", "-exec", "env", "echo", "{}", ";"}, 1},
    {"Xargs", "xargs", Bash("seq 16 | xargs -P 8 -n 1 env sh -c 'echo $0' | sort -n"), 16},
    {"EmptyEnvironment", "bash", Bash("env -i /usr/bin/env"), 1},
    {"ArgumentZero", "bash", Bash("exec -a other /usr/bin/env sh -c 'cat /proc/$$/cmdline | tr \"\\0\" \" \"'"), 1},
    {"Directory", "bash", Bash("cd /usr/lib && env pwd"), 1},
    {"RelativePath", "bash", Bash("cd /usr && bin/env echo relative && cd bin && ./env echo here"), 2},
    {"Descriptors", "bash",
     Bash("exec 5>&1 7</etc/hostname; env sh -c 'echo five >&5; cat <&7; ls /proc/self/fd | tr \"\\n\" \" \"'"), 1},
    {"ClosedInput", "bash", Bash("env sh -c 'ls /proc/self/fd | tr \"\\n\" \" \"' <&- ; env cat <&- ; echo $?"), 2},
    {"Pipeline", "bash", Bash("env echo a | env tr a b | env cat; echo ${PIPESTATUS[*]}"), 3},
    {"BrokenPipe", "bash", Bash("env yes | head -1; echo ${PIPESTATUS[*]}"), 1},
    {"Umask", "bash", Bash("umask 027; env sh -c umask"), 1},
    {"IgnoredSignals", "bash", Bash("trap '' HUP USR1; env grep SigIgn /proc/self/status"), 1},
    {"BlockedSignals",
     "perl",
     {"/usr/bin/perl", "-MPOSIX", "-e",
      "sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGTERM)); exec 'env', 'grep', 'SigBlk', '/proc/self/status'"},
     1},
    {"Nice", "bash", Bash("env nice -n 5 nice"), 1},
    {"Nohup", "nohup", Bash("nohup env sh -c 'kill -HUP $$; echo alive' 2>/dev/null"), 1},
    {"Setsid", "setsid", Bash("setsid -w env echo session; echo $?"), 1},
    {"Limits", "bash",
     Bash("ulimit -n 200; ulimit -Sc 0; ulimit -f 5000; ulimit -St 77; env bash -c 'ulimit -Sa; ulimit -Ha'"), 1},
    {"Namespaces", "unshare", Bash("unshare -Urmpf --mount-proc env sh -c 'exit 3'; echo $?"), 1},
    {"Timeout", "timeout", Bash("timeout 0.1 env sleep 100; echo $?"), 1},
    {"TrapRelay", "bash",
     Bash(": > f; env sh -c 'trap \"echo got; exit 11\" TERM; echo ready; while :; do sleep 0.01; done' > f 2> "
          "/dev/null & p=$!; until "
          "grep -q ready f; do sleep 0.01; done; kill -TERM $p; wait $p; echo $?; cat f"),
     1},
    {"NotFound", "bash", Bash("/no/such/env; echo $?; cd /; ./env; echo $?"), 0},
    {"NotExecutable", "bash", Bash("cp /etc/passwd env; ./env; echo $?; /etc; echo $?"), 0},
    {"ScriptWithoutInterpreter", "bash", Bash("echo 'echo $0 $*' > env; chmod +x env; ./env one two; echo $?"), 0, 1},
    {"Script", "bash", Bash("printf '#!/bin/sh\\necho $*; exit 8\\n' > env; chmod +x env; ./env one two; echo $?"), 1},
    {"MissingInterpreter", "bash", Bash("printf '#!/no/such\\n' > env; chmod +x env; ./env one; echo $?"), 0},
    {"EmptyFile", "bash", Bash(": > env; chmod +x env; ./env; echo $?"), 0, 1},
    {"NotUtf8", "bash", Bash("env printf '%s' $'\\xff\\xfe\\x01' | od -c"), 1},
    {"ManyArguments", "bash", Bash("env sh -c 'echo $# ${20000}' $(seq 20000)"), 1},
    {"TooManyArguments", "bash", {HOLDFAST_EXEC_CALLER, "many-arguments", "800000", "/usr/bin/env"}, 0},
    {"Thread", "bash", {HOLDFAST_EXEC_CALLER, "thread", "/usr/bin/env", "sh", "-c", "echo thread; exit 3"}, 1},
    {"Timer", "bash", {HOLDFAST_EXEC_CALLER, "timer", "/usr/bin/env", "sleep", "100"}, 1, 0, 0, 1},
    {"Vfork", "bash", {HOLDFAST_EXEC_CALLER, "vfork", "/usr/bin/env", "sh", "-c", "exit 3"}, 1},
    {"ByTheDescriptorOfADirectory",
     "bash",
     {HOLDFAST_EXEC_CALLER, "directory", "/usr/bin/env", "echo", "by directory"},
     1},
    {"TwoThreads", "bash", {HOLDFAST_EXEC_CALLER, "two-threads", "/usr/bin/env", "sh", "-c", "exit 3"}, 1, 0, 1},
    {"BadAddress", "bash", {HOLDFAST_EXEC_CALLER, "bad-address", "/usr/bin/env"}, 0},
    {"BadFlags", "bash", {HOLDFAST_EXEC_CALLER, "bad-flags", "/usr/bin/env"}, 0},
    {"LongArgument", "bash", {HOLDFAST_EXEC_CALLER, "long-argument", "131072", "/usr/bin/env"}, 0},
    {"EmptyPath", "bash", {HOLDFAST_EXEC_CALLER, "empty-path"}, 0},
    {"Hello", "bash", {HOLDFAST_EXEC_CALLER, "hello"}, 0},
    {"Stops", "bash", {HOLDFAST_EXEC_CALLER, "stops", "/usr/bin/env", "sh", "-c", "exit 3"}, 1},
    {"Make", "make", Bash("printf 'all:\\n\\t@env echo made\\n\\t@env false\\n' > Makefile; make 2>&1; echo $?"), 2},
};

// Commands that show variables which their callers have set. Outside they would not get them.
const Case kCasesOfVariables[] = {
    {"Environment", "bash", Bash("unset PWD OLDPWD; A='b c' B= exec env env"), 0},
    {"VariableNotUtf8", "bash", Bash("X=$'\\xff' env sh -c 'echo \"$X\"' | od -c"), 0},
};

class SupervisedCommandsTest : public SupervisedFixture, public testing::WithParamInterface<std::tuple<Case, Way>> {
 protected:
  // Each run begins with an empty directory.
  Words Placed(const Words& words) {
    const std::string directory = scratch_.path() + "/" + std::to_string(++runs_);
    ::mkdir(directory.c_str(), 0755);
    Words placed = {"/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", directory};
    placed.insert(placed.end(), words.begin(), words.end());
    return placed;
  }

  // Expects that the supervisor has not only looked on. The shell of Placed and the program that it executes are
  // judged at least.
  void ExpectThatNothingWasRedirected() const {
    EXPECT_GE(judged("sh"), 1u);
    EXPECT_EQ(judgements_.stubs_that_ran(), 0u);
    EXPECT_EQ(started_outside_, 0u);
  }
  void ExpectThatEverythingWasRedirected(const Case& command) const {
    EXPECT_GE(judgements_.judged_twice(), 2u);
    const size_t executed = judgements_.judged_twice() - command.left_to_shell;
    EXPECT_LE(judgements_.stubs_that_ran(), executed);
    EXPECT_GE(judgements_.stubs_that_ran(), executed - command.overtaken - command.killed);
    EXPECT_EQ(started_outside_, 0u);
  }
  void ExpectThatCommandsRanOutside(const Case& command) const {
    EXPECT_LE(started_outside_, command.outside);
    EXPECT_GE(started_outside_, command.outside - command.killed);
  }

 private:
  int runs_ = 0;
};

TEST_P(SupervisedCommandsTest, DoesTheSameAsWithoutASupervisor) {
  const auto& [command, way] = GetParam();
  if (!support::WantProgram(command.program)) return;
  if (way == Way::kEscalated) Escalate("env");
  const CommandOutcome native = RunNatively(Placed(command.words));
  EXPECT_EQ(Run(Placed(command.words), way == Way::kStrict ? Strict() : SupervisorSettings{}), native);
  if (way == Way::kRun) ExpectThatNothingWasRedirected();
  if (way == Way::kStrict) ExpectThatEverythingWasRedirected(command);
  if (way == Way::kEscalated) ExpectThatCommandsRanOutside(command);
}

std::string NameOf(const testing::TestParamInfo<std::tuple<Case, Way>>& test) {
  return std::get<Case>(test.param).name;
}

// Each way is a suite of its own, so that they run side by side.
auto AllCases(Way way) { return testing::Combine(testing::ValuesIn(kCases), testing::Values(way)); }
auto CasesOfVariables(Way way) { return testing::Combine(testing::ValuesIn(kCasesOfVariables), testing::Values(way)); }
INSTANTIATE_TEST_SUITE_P(Run, SupervisedCommandsTest, AllCases(Way::kRun), NameOf);
INSTANTIATE_TEST_SUITE_P(Strict, SupervisedCommandsTest, AllCases(Way::kStrict), NameOf);
INSTANTIATE_TEST_SUITE_P(RunWithVariables, SupervisedCommandsTest, CasesOfVariables(Way::kRun), NameOf);
INSTANTIATE_TEST_SUITE_P(StrictWithVariables, SupervisedCommandsTest, CasesOfVariables(Way::kStrict), NameOf);
INSTANTIATE_TEST_SUITE_P(Escalated, SupervisedCommandsTest, AllCases(Way::kEscalated), NameOf);

}  // namespace
}  // namespace holdfast::escalate
