#include <gtest/gtest.h>

#include "escalate/seccomp/supervised_fixture.h"

namespace holdfast::escalate {
namespace {

using SupervisedRunTest = SupervisedFixture;

TEST_F(SupervisedRunTest, RunsWhatNoRuleIsAbout) {
  EXPECT_EQ(RunShell("echo one; /bin/echo two; exit 3"), (CommandOutcome{3, "one\ntwo\n", ""}));
  EXPECT_EQ(judged("bash"), 1u);
  EXPECT_EQ(judged("echo"), 1u);
}

TEST_F(SupervisedRunTest, DeniesWithTheReason) {
  Deny("id", "not here");
  EXPECT_EQ(RunShell("/usr/bin/id; echo $?"), (CommandOutcome{0, "1\n", "Execution denied: not here\n"}));
}

TEST_F(SupervisedRunTest, DeniesWithoutAReason) {
  Deny("id");
  EXPECT_EQ(RunShell("/usr/bin/id; echo $?"),
            (CommandOutcome{0, "1\n", "Execution denied: Execution forbidden by policy\n"}));
}

TEST_F(SupervisedRunTest, RunsACopyWhenItIsStrict) {
  EXPECT_EQ(RunShell("/bin/echo two words '' end; exit 3", Strict()), (CommandOutcome{3, "two words  end\n", ""}));
  EXPECT_EQ(judged("echo"), 2u);  // before and after the look at the file, and not when the stub executes it
}

}  // namespace
}  // namespace holdfast::escalate
