// Tests of the warnings that a user gets about the sandbox of the private server.
#include <unistd.h>

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_fixture.h"

namespace holdfast::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The commands run in namespaces of their own, where no sandbox can be made, and which end with their private server.
class SandboxWarningsTest : public CommandFixture {
 protected:
  SandboxWarningsTest() { url_.clear(); }

  void SetUp() override {
    if (support::Program({"unshare", "-Ur", "--pid", "--fork", "--mount-proc", "true"}).Finish().status != 0) {
      GTEST_SKIP() << "no user namespaces here";
    }
  }

  // Runs a line that begins where no mount namespace can be made.
  support::Outcome RunConfined(const std::string& line) const {
    std::vector<std::string> words = {"unshare", "-Ur", "--pid", "--fork", "--kill-child", "--mount-proc"};
    for (std::string& word : Bash("echo 0 > /proc/sys/user/max_mnt_namespaces; " + line)) {
      words.push_back(std::move(word));
    }
    return support::Program(words).Finish();
  }
};

TEST_F(SandboxWarningsTest, AreShownOnceInTheLifeOfAServer) {
  const support::Outcome outcome = RunConfined(
      "holdfast run true 2> plain; holdfast run --read-only true 2> first; holdfast run --read-only true 2> second; "
      "holdfast sandbox true 2> third; true");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(Content("plain"), IsEmpty());
  EXPECT_THAT(Content("first"), HasSubstr("holdfast run: warning: The native backend, which is the fastest, does not "
                                          "work here: "));
  for (const char* later : {"second", "third"}) EXPECT_THAT(Content(later), testing::Not(HasSubstr("warning:")));
}

TEST_F(SandboxWarningsTest, AreShownByTheSandboxCommandToo) {
  const support::Outcome outcome = RunConfined(
      "holdfast sandbox true 2> before; holdfast run true; holdfast sandbox true 2> first; holdfast sandbox true 2> "
      "second; true");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(Content("before"), testing::Not(HasSubstr("warning:")));  // no private server knows anything yet
  EXPECT_THAT(Content("first"), HasSubstr("holdfast: warning: The native backend"));
  EXPECT_THAT(Content("second"), testing::Not(HasSubstr("warning:")));
}

TEST_F(SandboxWarningsTest, AreShownAgainForTheNextServer) {
  const support::Outcome outcome = RunConfined(
      "holdfast run --read-only true 2> first; kill $(pgrep -f 'exec-serve[r] --listen unix://'$PWD); "
      "while pgrep -f 'exec-serve[r] --listen unix://'$PWD > /dev/null; do sleep 0.01; done; "
      "holdfast run --read-only true 2> second; true");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const char* each : {"first", "second"}) EXPECT_THAT(Content(each), HasSubstr("warning: The native backend"));
}

TEST_F(SandboxWarningsTest, AreNotShownForAServerThatIsNotPrivate) {
  const support::Outcome outcome = RunConfined(
      "holdfast run true; holdfast exec-server --sandbox-check=false --listen unix://$PWD/other 2> /dev/null > url & "
      "until [ -s url ]; do sleep 0.01; done; holdfast run --server unix://$PWD/other --read-only true 2> other; true");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(Content("other"), testing::Not(HasSubstr("warning:")));
}

}  // namespace
}  // namespace holdfast::cli
