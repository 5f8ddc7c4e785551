// Tests of the program: where it reads the patch from, what it prints, and with which status it exits.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include "apply_patch/working_dir.h"
#include "support/program.h"

namespace holdfast::apply_patch {
namespace {

using support::Outcome;
using support::Program;
using testing::HasSubstr;

class ApplyPatchProgramTest : public WorkingDir {
 protected:
  // Runs a shell script in which `$tool` is the program.
  static Outcome Shell(const std::string& script) {
    return Program({"sh", "-c", "tool=" HOLDFAST_APPLY_PATCH "\n" + script}).Finish();
  }

  static std::string Patch(const std::string& operations) {
    return "'*** Begin Patch\n" + operations + "*** End Patch'";
  }
};

TEST_F(ApplyPatchProgramTest, TakesThePatchAsArgumentOrInput) {
  EXPECT_EQ(Shell("$tool " + Patch("*** Add File: a\n+1\n")).status, 0);
  EXPECT_EQ(Shell("echo " + Patch("*** Add File: b\n+1\n") + " | $tool").status, 0);
  EXPECT_EQ(Files(), (Tree{{"a", "1\n"}, {"b", "1\n"}}));
}

TEST_F(ApplyPatchProgramTest, ListsWhatItDidByKind) {
  for (const char* name : {"b", "c", "d"}) dir_.Write(name, "1\n");
  const Outcome outcome = Shell("$tool " + Patch("*** Delete File: d\n*** Update File: b\n 1\n*** Add File: ./a\n"
                                                 "*** Update File: c\n*** Move to: e\n 1\n*** Add File: a\n"));
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "Success. Updated the following files:\nA ./a\nA a\nM b\nM e\nD d\n");
  EXPECT_EQ(outcome.err, "");
}

TEST_F(ApplyPatchProgramTest, TellsBadUsageFromABadPatch) {
  for (const char* use : {"$tool", "$tool < /dev/null", "$tool <&-", "$tool a b"}) {
    const Outcome outcome = Shell(use);
    EXPECT_EQ(outcome.status, 2) << use;
    EXPECT_THAT(outcome.err, HasSubstr("usage: ")) << use;
  }
  for (const char* patch : {"$tool ''", "$tool --help", "$tool -", "$tool \"$(printf '\\377')\"", "$tool < /"}) {
    const Outcome outcome = Shell(patch);
    EXPECT_EQ(outcome.status, 1) << patch;
    EXPECT_EQ(outcome.out, "") << patch;
    EXPECT_THAT(outcome.err, HasSubstr("apply_patch: ")) << patch;
  }
}

TEST_F(ApplyPatchProgramTest, SaysThatItAppliedWhatItCannotReport) {
  const Outcome outcome = Shell("$tool " + Patch("*** Add File: a\n+1\n") + " > /dev/full");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("the patch is applied, but"));
  EXPECT_EQ(Files(), (Tree{{"a", "1\n"}}));
}

// A file that is opened must not get the descriptor of a closed standard stream, and with it the output.
TEST_F(ApplyPatchProgramTest, WritesFilesProperlyWithoutStreams) {
  EXPECT_EQ(Shell("$tool " + Patch("*** Add File: a\n+1\n*** Add File: b\n+2\n") + " <&- >&- 2>&-").status, 0);
  EXPECT_EQ(Files(), (Tree{{"a", "1\n"}, {"b", "2\n"}}));
}

TEST_F(ApplyPatchProgramTest, SurvivesALimitOnTheSizeOfFiles) {
  dir_.Write("a", "1\n");
  const Outcome outcome = Shell(
      "ulimit -f 1\n{ printf '*** Begin Patch\\n*** Update File: a\\n-1\\n+2\\n*** Add File: d/b\\n+%05000d\\n*** End "
      "Patch' 1; } | $tool");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("File too large; every file is as it was"));
  EXPECT_EQ(Files(), (Tree{{"a", "1\n"}}));
}

// The planner finds the file that may not be written before anything is written.
TEST_F(ApplyPatchProgramTest, ChangesNothingWhenOneFileMayNotBeWritten) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can act as another user";
  dir_.Write("mine", "1\n", 0666);
  dir_.Write("theirs", "1\n", 0444);
  dir_.Write("unread", "1\n", 0222);
  ASSERT_EQ(::chmod(dir_.path().c_str(), 0755), 0);
  const std::string as_nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups ";
  const Outcome refused =
      Shell(as_nobody + "$tool " + Patch("*** Add File: mine\n+2\n*** Update File: theirs\n-1\n+2\n"));
  EXPECT_EQ(refused.status, 1);
  EXPECT_EQ(refused.err,
            "apply_patch: open theirs: Permission denied\n");  // nothing was written, so nothing is said of undoing
  EXPECT_EQ(Read("mine"), "1\n");
  const Outcome written = Shell(as_nobody + "$tool " + Patch("*** Add File: unread\n+2\n"));
  EXPECT_EQ(written.status, 0) << written.err;
  EXPECT_EQ(Read("unread"), "2\n");
  const Outcome changed =
      Shell(as_nobody + "$tool " + Patch("*** Add File: unread\n+3\n*** Add File: mine\n+3\n*** Add File: new\n"));
  EXPECT_EQ(changed.status, 1);
  EXPECT_THAT(changed.err, HasSubstr("changed:\n  unread: "));
  EXPECT_EQ(Read("mine"), "1\n");
}

}  // namespace
}  // namespace holdfast::apply_patch
