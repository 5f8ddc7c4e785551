// Tests of the properties that `holdfast cp` keeps, and of copies that are cut.
#include <csignal>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_fixture.h"
#include "support/eventually.h"
#include "support/small_tmpfs.h"

namespace holdfast::cli {
namespace {

using ::testing::HasSubstr;

using CpTest = ServedCommandFixture;

TEST_F(CpTest, CopiesPermissionsInBothDirections) {
  for (const char* mode : {"755", "644", "700", "600", "500", "444", "400"}) {
    const std::string make = "rm -f a b c; echo x > a; chmod " + std::string(mode) + " a; ";
    EXPECT_EQ(Output(make + "holdfast cp a :b; holdfast cp :a c; stat -c %a b c; cmp a b; cmp a c; ls"),
              std::string(mode) + "\n" + mode + "\na\nb\nc\nserver.sock\n");
  }
}

TEST_F(CpTest, CopiesPermissionsInTreesAndWithResume) {
  Output("mkdir -p tree/deep; echo x > tree/run; echo y > tree/deep/key; chmod 755 tree/run; chmod 400 tree/deep/key");
  EXPECT_EQ(Output("holdfast cp tree :up; holdfast cp :tree down; stat -c %a {up,down}/{run,deep/key}"),
            "755\n400\n755\n400\n");
  EXPECT_EQ(Output("holdfast cp --resume tree :up2; holdfast cp --resume :tree down2; "
                   "stat -c %a {up2,down2}/{run,deep/key}"),
            "755\n400\n755\n400\n");
}

TEST_F(CpTest, CopiesNoSpecialBitsAndNothingThatTheUmaskForbids) {
  EXPECT_EQ(Output("echo x > a; chmod 6755 a; holdfast cp a :b; holdfast cp :a c; stat -c %a b c"), "755\n755\n");
  EXPECT_EQ(Output("chmod 777 a; holdfast cp a :b; umask 077; holdfast cp :a c; stat -c %a b c"), "755\n700\n");
}

// The name of the part of a copy from `a` to the file `$1`, for command lines.
constexpr const char* kPartFunction =
    "part() { echo $1.$(stat -c %s a)-$(($(date -r a +%s%N) / 1000000)).holdfast-part; }; ";

// Another user must not read what a part with other permissions would show.
TEST_F(CpTest, TakesOverALeftPartWithThePermissionsOfTheSource) {
  const std::string part = kPartFunction;
  EXPECT_EQ(Output(part + "echo x > a; chmod 600 a; for f in b c; do echo longer > $(part $f); done; "
                          "holdfast cp a :b; holdfast cp :a c; stat -c %a b c; cmp a b; cmp a c; ls"),
            "600\n600\na\nb\nc\nserver.sock\n");
}

TEST_F(CpTest, TakesTheOptionsOfOtherCopyCommands) {
  Output("mkdir tree; echo x > tree/f; touch -d '2001-02-03 04:05:06.789' tree/f");
  EXPECT_EQ(
      Output("holdfast cp -r tree :up; holdfast cp -r :tree down; find up down -newermt 2020-01-01 -type f | sort"),
      "down/f\nup/f\n");
  EXPECT_EQ(Output("for o in -p -rp -a; do rm -r up down; holdfast cp $o tree :up; holdfast cp $o :tree down; "
                   "stat -c %y up/f down/f | cut -c -23; done | sort -u"),
            "2001-02-03 04:05:06.789\n");
}

TEST_F(CpTest, CopiesFilesWithTheLongestNames) {
  EXPECT_EQ(Output("n=$(printf '%0255d' 7); echo x > $n; mkdir b c; holdfast cp $n :b/; holdfast cp :$n c/; "
                   "cmp $n b/$n && cmp $n c/$n && echo same"),
            "same\n");
}

TEST_F(CpTest, CountsFilesOnATerminal) {
  Output("mkdir tree; echo x > tree/a; touch tree/b tree/c");
  EXPECT_THAT(Output("script -qec 'holdfast cp tree :up' /dev/null"), HasSubstr("file 1 of 3"));
}

TEST_F(CpTest, GoesOnWithAnUploadThatWasCut) {
  const std::string part = kPartFunction;
  EXPECT_EQ(Output(part + "seq 200000 > a; head -c 700001 a > $(part b); holdfast cp --resume a :b; cmp a b; ls"),
            "a\nb\nserver.sock\n");
  // A beginning that is not that of the file shows that it was not copied again; only the end of the part is compared.
  EXPECT_EQ(Output(part + "head -c 700001 a > p; printf XX | dd of=p conv=notrunc status=none; mv p $(part c); "
                          "holdfast cp --resume a :c; head -c 2 c; cmp <(tail -c +3 a) <(tail -c +3 c)"),
            "XX");
}

TEST_F(CpTest, DoesNotGoOnWithWhatIsNoBeginningOfTheSource) {
  const std::string part = kPartFunction;
  Output(part + "seq 100000 > a; (head -c 300000 a; printf XX) > $(part b); holdfast cp --resume a :b; cmp a b");
  Output(part + "head -c 300000 /dev/zero > $(part c); holdfast cp --resume a :c; cmp a c");
  Output(part + "(cat a; echo more) > $(part d); holdfast cp --resume a :d; cmp a d");
  Output(part + "head -c 9 a > $(part e); touch -d '2001-02-03' a; holdfast cp --resume a :e; cmp a e");
  Output(part + "echo victim > v; ln -s v $(part f); holdfast cp --resume a :f; cmp a f; [ ! -L f ]; grep -q victim v");
}

TEST_F(CpTest, ResumingSkipsOnlyUploadsOfTheSameSizeAndTime) {
  EXPECT_EQ(Output("seq 1000 > a; touch -d '2001-02-03 04:05:06.789' a; holdfast cp --resume a :b; cmp a b; "
                   "stat -c %y b | cut -c -23"),
            "2001-02-03 04:05:06.789\n");
  // Another content with the size and the time of the source shows that the file was skipped.
  EXPECT_EQ(
      Output("printf XX | dd of=b conv=notrunc status=none; touch -r a b; holdfast cp --resume a :b; head -c 2 b"),
      "XX");
  Output("touch b; holdfast cp --resume a :b; cmp a b");
}

TEST_F(CpTest, ResumesNoCopiesOnTheServer) {
  EXPECT_THAT(Refusal("holdfast cp --resume :a :b", 2), HasSubstr("between this machine and the server"));
}

TEST_F(CpTest, AnUploadThatIsKilledIsFinishedByTheNextOne) {
  const std::string part = kPartFunction;
  Output(part +
         "head -c 100000000 /dev/urandom > a; p=$(part b); (exec holdfast cp --resume a :b) & c=$!; "
         "until [ -s $p ]; do kill -0 $c || exit 9; done; { kill -9 $c; wait $c; } 2>/dev/null; "
         "[ ! -e b ] || exit 8; s=$(stat -c %s $p); [ $s -gt 0 ] || exit 7; "
         "holdfast cp --resume a :b && cmp a b && [ ! -e $p ]");
}

TEST_F(CpTest, ResumingFindsWhatAnOrdinaryCopyHasLeft) {
  const std::string part = kPartFunction;
  Output("head -c 100000000 /dev/urandom > a");
  for (const std::string paths : {"a :b", ":a b"}) {
    // Another beginning shows that the copy went on with the part.
    EXPECT_EQ(Output(part + "p=$(part b); (exec holdfast cp " + paths +
                     ") & c=$!; "
                     "until [ -s $p ]; do kill -0 $c || exit 9; done; { kill -9 $c; wait $c; } 2>/dev/null; "
                     "[ -s $p ] || exit 8; printf XX | dd of=$p conv=notrunc status=none; "
                     "holdfast cp --resume " +
                     paths + "; head -c 2 b; cmp <(tail -c +3 a) <(tail -c +3 b); rm b; ls"),
              "XXa\nserver.sock\n")
        << paths;
  }
}

// The copy is too long to come to its end.
class InterruptedCpTest : public ServedCommandFixture {
 protected:
  support::Outcome Interrupt(const std::string& words) {
    Output("[ -e a ] || truncate -s 20G a");
    support::Program copy(Bash("exec holdfast cp " + words));
    EXPECT_TRUE(support::Eventually([&] { return Run("[ -s b.*.holdfast-part ]").status == 0; }));
    copy.Signal(SIGINT);
    return copy.Finish();
  }
};

TEST_F(InterruptedCpTest, LeavesNothingHalfWritten) {
  for (const char* paths : {"a :b", ":a b"}) {
    const support::Outcome outcome = Interrupt(paths);
    EXPECT_EQ(outcome.status, 128 + SIGINT);
    EXPECT_EQ(outcome.err,
              "holdfast cp: interrupted; the file under way was removed, and those before it are complete\n");
    EXPECT_EQ(Output("ls"), "a\nserver.sock\n") << paths;
  }
}

TEST_F(InterruptedCpTest, KeepsWhatHasComeToGoOnWithIt) {
  for (const char* paths : {"--resume a :b", "--resume :a b"}) {
    const support::Outcome outcome = Interrupt(paths);
    EXPECT_EQ(outcome.status, 128 + SIGINT);
    EXPECT_EQ(outcome.err, "holdfast cp: interrupted; the same command goes on with the copy\n");
    Output("[ -s b.*.holdfast-part ] && rm b.*");
  }
}

TEST_F(InterruptedCpTest, SaysWhatIsLeftIfTheServerDoesNotAnswer) {
  Output("truncate -s 20G a");
  support::Program copy(Bash("exec holdfast cp a :b"));
  EXPECT_TRUE(support::Eventually([&] { return Run("[ -s b.*.holdfast-part ]").status == 0; }));
  ::kill(server().pid(), SIGSTOP);
  copy.Signal(SIGINT);
  const support::Outcome outcome = copy.Finish();
  ::kill(server().pid(), SIGCONT);
  EXPECT_EQ(outcome.status, 128 + SIGINT);
  EXPECT_THAT(outcome.err, HasSubstr(".holdfast-part is left on the server, and the same command with --resume goes"));
}

// The file system is mounted before the server starts, which would not see it otherwise.
class FullDiskTest : public CommandFixture {
 protected:
  support::SmallTmpfs small_{1 << 20};
};

TEST_F(FullDiskTest, ACopyThatFailsLeavesNothingBehind) {
  if (!small_.why_not().empty()) GTEST_SKIP() << small_.why_not();
  StartServer();
  Output("head -c 3000000 /dev/zero > big");
  EXPECT_THAT(Refusal("holdfast cp :big " + small_.path() + "/big", 1), HasSubstr("No space left on device"));
  EXPECT_EQ(Output("ls -A " + small_.path()), "");
  EXPECT_THAT(Refusal("holdfast cp big :" + small_.path() + "/big", 1), HasSubstr("No space left on device"));
  EXPECT_EQ(Output("ls -A " + small_.path()), "");
}

TEST_F(FullDiskTest, AnUploadThatFailsGoesOnWhenThereIsRoom) {
  if (!small_.why_not().empty()) GTEST_SKIP() << small_.why_not();
  StartServer();
  const std::string to = small_.path() + "/big";
  Output("head -c 3000000 /dev/urandom > big");
  EXPECT_THAT(Refusal("holdfast cp --resume big :" + to, 1), HasSubstr("No space left on device"));
  EXPECT_EQ(Output("cd " + small_.path() + "; [ ! -e big ]; for f in *; do cmp -n $(stat -c %s $f) $f " + Path("big") +
                   " && [ $(stat -c %s $f) -gt 500000 ] && echo ${f##*.}; done"),
            "holdfast-part\n");
  Output("mount -o remount,size=8m " + small_.path() + "; holdfast cp --resume big :" + to + "; cmp big " + to);
  EXPECT_EQ(Output("ls -A " + small_.path()), "big\n");
}

}  // namespace
}  // namespace holdfast::cli
