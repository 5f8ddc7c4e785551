// Commands of many kinds do the same under a supervisor as without one, whatever is decided about them.
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
};

Words Bash(const std::string& script) { return {"/bin/bash", "-c", script}; }

void PrintTo(const Case& command, std::ostream* out) { *out << command.name; }

const Case kCases[] = {
    {"ExitCode", "bash", Bash("env true; env false; echo $?; sh -c 'exit 42'")},
    {"Signal", "bash",
     Bash("exec 2>/dev/null; (env sh -c 'kill -KILL $$'); echo $?; (env sh -c 'kill -SEGV $$'); echo $?")},
    {"DiesBySignal", "bash", Bash("exec env sh -c 'kill -TERM $$'")},
    {"Dash", "dash", {"/bin/dash", "-c", "env echo one; env sh -c 'exit 3'; echo $?"}},
    {"Zsh", "zsh", {"/usr/bin/zsh", "-f", "-c", "env echo one; env sh -c 'exit 3'; echo $?"}},
    {"Subprocess",
     "python3",
     {"/usr/bin/python3", "-c",
      "import subprocess as s; r=s.run(['env','sh','-c','cat; exit 5'],input=b'in',capture_output=True); print(r)"}},
    {"PosixSpawn",
     "python3",
     {"/usr/bin/python3", "-c",
      "import os; p=os.posix_spawn('/usr/bin/env',['env','sh','-c','exit 6'],os.environ); print(os.waitpid(p,0)[1])"}},
    {"System", "python3", {"/usr/bin/python3", "-c", "import os; print(os.system('env sh -c \"exit 7\"'))"}},
    {"Perl",
     "perl",
     {"/usr/bin/perl", "-e", "print `env echo hi`; system('env', 'sh', '-c', 'exit 4'); print $? >> 8"}},
    {"Node",
     "node",
     {"/usr/bin/node", "-e",
      "const r=require('child_process').spawnSync('env',['sh','-c','echo $0; exit 9']); console.log(r.status,String(r."
      "stdout))"}},
    {"Find", "find", {"/usr/bin/find", "/etc/passwd", "-exec", "env", "echo", "{}", ";"}},
    {"Xargs", "xargs", Bash("seq 16 | xargs -P 8 -n 1 env sh -c 'echo $0' | sort -n")},
    {"EmptyEnvironment", "bash", Bash("env -i /usr/bin/env")},
    {"Environment", "bash", Bash("unset PWD OLDPWD; A='b c' B= exec env env")},
    {"ArgumentZero", "bash", Bash("exec -a other /usr/bin/env sh -c 'cat /proc/$$/cmdline | tr \"\\0\" \" \"'")},
    {"Directory", "bash", Bash("cd /usr/lib && env pwd")},
    {"RelativePath", "bash", Bash("cd /usr && bin/env echo relative && cd bin && ./env echo here")},
    {"Descriptors", "bash",
     Bash("exec 5>&1 7</etc/hostname; env sh -c 'echo five >&5; cat <&7; ls /proc/self/fd | tr \"\\n\" \" \"'")},
    {"ClosedInput", "bash", Bash("env sh -c 'ls /proc/self/fd | tr \"\\n\" \" \"' <&- ; env cat <&- ; echo $?")},
    {"Pipeline", "bash", Bash("env echo a | env tr a b | env cat; echo ${PIPESTATUS[*]}")},
    {"BrokenPipe", "bash", Bash("env yes | head -1; echo ${PIPESTATUS[*]}")},
    {"Umask", "bash", Bash("umask 027; env sh -c umask")},
    {"IgnoredSignals", "bash", Bash("trap '' HUP USR1; env grep SigIgn /proc/self/status")},
    {"BlockedSignals",
     "perl",
     {"/usr/bin/perl", "-MPOSIX", "-e",
      "sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGTERM)); exec 'env', 'grep', 'SigBlk', '/proc/self/status'"}},
    {"Nice", "bash", Bash("env nice -n 5 nice")},
    {"Nohup", "nohup", Bash("nohup env sh -c 'kill -HUP $$; echo alive' 2>/dev/null")},
    {"Setsid", "setsid", Bash("setsid -w env echo session; echo $?")},
    {"Limits", "bash",
     Bash("ulimit -n 200; ulimit -Sc 0; ulimit -f 5000; ulimit -St 77; env bash -c 'ulimit -Sa; ulimit -Ha'")},
    {"Namespaces", "unshare", Bash("unshare -Urmpf --mount-proc env sh -c 'exit 3'; echo $?")},
    {"Timeout", "timeout", Bash("timeout 0.1 env sleep 100; echo $?")},
    {"TrapRelay", "bash",
     Bash(": > f; env sh -c 'trap \"echo got; exit 11\" TERM; echo ready; while :; do sleep 0.01; done' > f 2> "
          "/dev/null & p=$!; until "
          "grep -q ready f; do sleep 0.01; done; kill -TERM $p; wait $p; echo $?; cat f")},
    {"NotFound", "bash", Bash("/no/such/env; echo $?; cd /; ./env; echo $?")},
    {"NotExecutable", "bash", Bash("cp /etc/passwd env; ./env; echo $?; /etc; echo $?")},
    {"ScriptWithoutInterpreter", "bash", Bash("echo 'echo $0 $*' > env; chmod +x env; ./env one two; echo $?")},
    {"Script", "bash", Bash("printf '#!/bin/sh\\necho $*; exit 8\\n' > env; chmod +x env; ./env one two; echo $?")},
    {"MissingInterpreter", "bash", Bash("printf '#!/no/such\\n' > env; chmod +x env; ./env one; echo $?")},
    {"EmptyFile", "bash", Bash(": > env; chmod +x env; ./env; echo $?")},
    {"NotUtf8", "bash", Bash("env printf '%s' $'\\xff\\xfe\\x01' | od -c; X=$'\\xff' env sh -c 'echo \"$X\"' | od -c")},
    {"ManyArguments", "bash", Bash("env sh -c 'echo $# ${20000}' $(seq 20000)")},
    {"TooManyArguments", "bash", {HOLDFAST_EXEC_CALLER, "many-arguments", "800000", "/usr/bin/env"}},
    {"Thread", "bash", {HOLDFAST_EXEC_CALLER, "thread", "/usr/bin/env", "sh", "-c", "echo thread; exit 3"}},
    {"Timer", "bash", {HOLDFAST_EXEC_CALLER, "timer", "/usr/bin/env", "sleep", "100"}},
    {"Vfork", "bash", {HOLDFAST_EXEC_CALLER, "vfork", "/usr/bin/env", "sh", "-c", "exit 3"}},
    {"Directory2", "bash", {HOLDFAST_EXEC_CALLER, "directory", "/usr/bin/env", "echo", "by directory"}},
    {"TwoThreads", "bash", {HOLDFAST_EXEC_CALLER, "two-threads", "/usr/bin/env", "sh", "-c", "exit 3"}},
    {"BadAddress", "bash", {HOLDFAST_EXEC_CALLER, "bad-address", "/usr/bin/env"}},
    {"BadFlags", "bash", {HOLDFAST_EXEC_CALLER, "bad-flags", "/usr/bin/env"}},
    {"LongArgument", "bash", {HOLDFAST_EXEC_CALLER, "long-argument", "131072", "/usr/bin/env"}},
    {"EmptyPath", "bash", {HOLDFAST_EXEC_CALLER, "empty-path"}},
    {"Hello", "bash", {HOLDFAST_EXEC_CALLER, "hello"}},
    {"Stops", "bash", {HOLDFAST_EXEC_CALLER, "stops", "/usr/bin/env", "sh", "-c", "exit 3"}},
    {"Make", "make", Bash("printf 'all:\\n\\t@env echo made\\n\\t@env false\\n' > Makefile; make 2>&1; echo $?")},
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

 private:
  int runs_ = 0;
};

TEST_P(SupervisedCommandsTest, DoesTheSameAsWithoutASupervisor) {
  const auto& [command, way] = GetParam();
  if (!support::WantProgram(command.program)) return;
  if (way == Way::kEscalated) Escalate("env");
  const CommandOutcome native = RunNatively(Placed(command.words));
  EXPECT_EQ(Run(Placed(command.words), way == Way::kStrict ? Strict() : SupervisorSettings{}), native);
}

std::string NameOf(const testing::TestParamInfo<std::tuple<Case, Way>>& test) {
  return std::get<Case>(test.param).name;
}

// Each way is a suite of its own, so that they run side by side.
auto AllCases(Way way) { return testing::Combine(testing::ValuesIn(kCases), testing::Values(way)); }
INSTANTIATE_TEST_SUITE_P(Run, SupervisedCommandsTest, AllCases(Way::kRun), NameOf);
INSTANTIATE_TEST_SUITE_P(Strict, SupervisedCommandsTest, AllCases(Way::kStrict), NameOf);
INSTANTIATE_TEST_SUITE_P(Escalated, SupervisedCommandsTest, AllCases(Way::kEscalated), NameOf);

}  // namespace
}  // namespace holdfast::escalate
