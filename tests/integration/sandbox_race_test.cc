// Tests with names that change while a sandbox is set up: another process of the user swaps a directory and a link
// again and again. Whatever a sandbox then does, it writes nothing outside and reads nothing that is denied.
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/program.h"
#include "support/sandbox_workspace.h"
#include "support/swapper.h"

namespace holdfast::support {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr int kRuns = 100;
constexpr std::chrono::milliseconds kRest{100};

class SandboxRaceTest : public testing::TestWithParam<SandboxCase> {
 protected:
  void SetUp() override {
    if (const std::string reason = workspace_.WhyNot(); !reason.empty()) GTEST_SKIP() << reason;
  }

  std::string In(const std::string& name) const { return workspace_.path() + "/" + name; }
  void Prepare(const std::string& script) const { ASSERT_EQ(workspace_.Outside(script).status, 0); }

  // Returns whether to start another sandbox. There are more runs if each one so far has met the link.
  bool GoesOn(int run) const { return run < kRuns || (starts_ == 0 && run < 10 * kRuns); }

  // Counts a start that has run the command. A sandbox that meets the link must refuse, with a message.
  void CountStart(const Outcome& outcome) {
    if (outcome.out.contains("ran")) {
      ++starts_;
    } else {
      EXPECT_THAT(outcome.err, HasSubstr("holdfast-linux-sandbox: "));
    }
  }
  void TearDown() override {
    if (!IsSkipped()) EXPECT_GT(starts_, 0) << "then nothing was tried";
  }

  SandboxWorkspace workspace_{GetParam()};
  int starts_ = 0;
};

INSTANTIATE_TEST_SUITE_P(, SandboxRaceTest, testing::ValuesIn(UsersWith({Means::kNative, Means::kSystemBubblewrap})),
                         CaseName);

// The command may write `place`, and `closed` is denied; now and then `place` is a link to `closed`.
TEST_P(SandboxRaceTest, NothingIsOpenedWhereALinkLeads) {
  const std::string area = workspace_.elsewhere();
  Prepare(fmt::format("cd {} && mkdir place closed && echo secret > closed/file && ln -s closed link", area));
  const std::string script = fmt::format(
      "echo ran; cd {} && for i in 1 2 3 4 5 6 7 8; do cat place/file closed/file link/file;"
      " echo x > place/made; echo x > closed/made; echo x > link/made; done 2> /dev/null",
      area);
  const Swapper swapper(area + "/place", area + "/link");
  for (int i = 0; GoesOn(i); ++i) {
    const Outcome outcome =
        workspace_.Inside(script, {PathEntry(area + "/place", "write"), PathEntry(area + "/closed", "deny")});
    EXPECT_THAT(outcome.out, Not(HasSubstr("secret")));
    EXPECT_FALSE(fs::exists(area + "/closed/made"));
    CountStart(outcome);
  }
}

TEST_P(SandboxRaceTest, NothingDeniedIsRead) {
  Prepare("mkdir key decoy && echo secret > key/file && echo decoy > decoy/file && ln -s decoy link");
  const Swapper swapper(In("key"), In("link"));
  for (int i = 0; GoesOn(i); ++i) {
    const Outcome outcome =
        workspace_.Inside("echo ran; for i in 1 2 3 4 5 6 7 8; do cat key/file link/file; done 2> /dev/null",
                          {WorkspaceEntry("key", "deny")});
    EXPECT_THAT(outcome.out, Not(HasSubstr("secret")));
    CountStart(outcome);
  }
}

// Of two protected names one is a directory, and the other one a link, whose target is protected too. A start that
// meets an exchange is refused, so the exchanges leave time for some starts.
TEST_P(SandboxRaceTest, NothingProtectedIsWritten) {
  Prepare("mkdir -p .git/hooks decoy/hooks && ln -s decoy .codex");
  {
    const Swapper swapper(In(".git"), In(".codex"), kRest);
    for (int i = 0; GoesOn(i); ++i) {
      CountStart(
          workspace_.Inside("echo ran; for i in 1 2 3 4 5 6 7 8; do for name in .git .codex decoy; do echo x > "
                            "$name/hooks/made; done; done 2> /dev/null"));
    }
  }
  for (const char* name : {".git", ".codex", "decoy"}) EXPECT_FALSE(fs::exists(In(name) + "/hooks/made")) << name;
}

}  // namespace
}  // namespace holdfast::support
