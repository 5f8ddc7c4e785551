// A program that is denied is, for every kind of caller, like one that writes the reason to its standard error and
// exits with 1. It does not run.
#include <unistd.h>

#include <ostream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "escalate/seccomp/supervised_fixture.h"
#include "support/required_program.h"

namespace holdfast::escalate {
namespace {

using testing::HasSubstr;

constexpr const char* kMessage = "Execution denied: not here\n";

// The word PROGRAM in a case stands for the path of the program.
struct Case {
  std::string name;
  std::string required;  // the test is skipped without this program
  Words words;
  size_t denials = 1;
};

void PrintTo(const Case& caller, std::ostream* out) { *out << caller.name; }

Words Bash(const std::string& script) { return {"/bin/bash", "-c", script}; }
Words Python(const std::string& script) { return {"/usr/bin/python3", "-c", script}; }
Words Caller(const std::string& act) { return {HOLDFAST_EXEC_CALLER, act, "PROGRAM", "one"}; }

const Case kCases[] = {
    {"Bash", "bash", Bash("PROGRAM one; echo $?")},
    {"BashThatExecutesIt", "bash", Bash("exec PROGRAM one")},
    {"BashInAPipeline", "bash", Bash("PROGRAM | cat; echo ${PIPESTATUS[*]}")},
    {"BashInTheBackground", "bash", Bash("PROGRAM & wait $!; echo $?")},
    {"BashInASubstitution", "bash", Bash("x=$(PROGRAM 2>&1); echo $?; echo \"$x\" >&2")},
    {"BashThatEndsAtAnError", "bash", Bash("set -e; PROGRAM; echo not reached")},
    {"Dash", "dash", {"/bin/dash", "-c", "PROGRAM one; echo $?; PROGRAM || echo failed"}, 2},
    {"Zsh", "zsh", {"/usr/bin/zsh", "-f", "-c", "PROGRAM one; echo $?"}},
    {"Subprocess", "python3",
     Python("import subprocess as s; r=s.run(['PROGRAM','x'],capture_output=True); print(r.returncode, r.stdout); "
            "import sys; sys.stderr.write(r.stderr.decode())")},
    {"SubprocessWithItsOwnSession", "python3",
     Python("import subprocess as s; print(s.Popen(['PROGRAM'],start_new_session=True,close_fds=True).wait())")},
    {"PosixSpawn", "python3",
     Python("import os; p=os.posix_spawn('PROGRAM',['x'],os.environ); print(os.waitpid(p,0)[1])")},
    {"System", "python3", Python("import os; print(os.system('PROGRAM'))")},
    {"Perl", "perl", {"/usr/bin/perl", "-e", "$|=1; print system('PROGRAM', 'x') >> 8; print `PROGRAM`; print $?"}, 2},
    {"Node",
     "node",
     {"/usr/bin/node", "-e",
      "const r=require('child_process').spawnSync('PROGRAM',['x']); console.log(r.status,r.error,String(r.stdout));"
      "process.stderr.write(r.stderr)"}},
    {"Make", "make",
     Bash("p=PROGRAM; cd ${p%/*}; printf 'all:\\n\\tPROGRAM\\n\\techo no\\n' > Makefile; make -s; echo $?")},
    {"Find", "find", {"/usr/bin/find", "/etc/passwd", "/etc/group", "-exec", "PROGRAM", "{}", ";", "-print"}, 2},
    {"FindWithAllNames", "find", {"/usr/bin/find", "/etc/passwd", "/etc/group", "-exec", "PROGRAM", "{}", "+"}},
    {"Xargs", "xargs", Bash("seq 16 | xargs -P 8 -n 1 PROGRAM; echo $?"), 16},
    {"EmptyEnvironment", "env", {"/usr/bin/env", "-i", "PROGRAM", "one"}},
    {"Nohup", "nohup", {"/usr/bin/nohup", "PROGRAM", "one"}},
    {"Setsid", "setsid", {"/usr/bin/setsid", "-w", "PROGRAM", "one"}},
    {"Timeout", "timeout", {"/usr/bin/timeout", "100", "PROGRAM", "one"}},
    {"Nice", "nice", {"/usr/bin/nice", "-n", "5", "PROGRAM", "one"}},
    {"StaticProgram", "sh", Caller("plain")},
    {"Thread", "sh", Caller("thread")},
    {"Vfork", "sh", Caller("vfork")},
    {"ByALinkInProc", "sh", Caller("proc-link")},
};

class SupervisedDenialTest : public SupervisedFixture, public testing::WithParamInterface<Case> {
 protected:
  // Puts the path of the program into the words.
  Words Filled(Words words) const {
    for (std::string& word : words) {
      for (size_t at; (at = word.find("PROGRAM")) != std::string::npos;) word.replace(at, 7, program_);
    }
    return words;
  }

  void BeAProgramThatRefuses() const {
    scratch_.Write("program", "#!/bin/sh\necho 'Execution denied: not here' >&2\nexit 1\n", 0755);
  }
  void BeAProgramThatLeavesAMark() const { scratch_.Write("program", "#!/bin/sh\n: > " + mark_ + "\n", 0755); }
  bool HasRun() const { return ::access(mark_.c_str(), F_OK) == 0; }

  const std::string program_ = scratch_.path() + "/program", mark_ = scratch_.path() + "/mark";
};

TEST_P(SupervisedDenialTest, IsLikeAProgramThatFailsWithTheReason) {
  const auto& [name, required, words, denials] = GetParam();
  if (!support::WantProgram(required)) return;
  BeAProgramThatRefuses();
  const CommandOutcome native = RunNatively(Filled(words));
  BeAProgramThatLeavesAMark();
  Deny("program", "not here");
  EXPECT_EQ(Run(Filled(words)), native);
  EXPECT_FALSE(HasRun());
  EXPECT_THAT(native.err, HasSubstr(kMessage));
  EXPECT_EQ(judgements_.judged_twice(), denials);
}

// Shows that the mark of the test above can appear.
TEST_P(SupervisedDenialTest, IsNeededToKeepTheProgramFromRunning) {
  if (!support::WantProgram(GetParam().required)) return;
  BeAProgramThatLeavesAMark();
  Run(Filled(GetParam().words));
  EXPECT_TRUE(HasRun());
}

INSTANTIATE_TEST_SUITE_P(, SupervisedDenialTest, testing::ValuesIn(kCases),
                         [](const testing::TestParamInfo<Case>& test) { return test.param.name; });

}  // namespace
}  // namespace holdfast::escalate
