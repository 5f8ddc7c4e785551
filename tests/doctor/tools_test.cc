#include "doctor/tools.h"

#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/report_text.h"
#include "sandbox/bubblewrap/bubblewrap.h"
#include "support/scratch_dir.h"
#include "wire/encode.h"

namespace holdfast::doctor {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Returns the text of a program that has all needed options except one.
std::string Without(std::string_view lacking) {
  std::string text = "#!/bin/sh\nexit\n";
  for (const std::string_view option : sandbox::kNeededOptions) {
    if (option != lacking) text += std::string(option) + '\0';
  }
  return text;
}

class ToolsTest : public testing::Test {
 protected:
  Surroundings Here() const {
    return {.program = In("own/holdfast"),
            .sandbox_program = In("own/holdfast-linux-sandbox"),
            .path_variable = In("bin"),
            .cwd = "/nowhere",
            .ripgrep = In("usr/rg"),
            .trust = {.owner = ::geteuid(), .top = tree_.path(), .only_in = {}}};
  }
  std::string In(const std::string& name) const { return tree_.path() + "/" + name; }
  ProgramReport SandboxProgram() const { return ExamineSandboxProgram(Here()); }

  support::ScratchDir tree_;
};

TEST_F(ToolsTest, FindsTheSandboxProgramBesideTheProgram) {
  tree_.Write("own/holdfast-linux-sandbox", "", 0755);
  EXPECT_EQ(SandboxProgram().finding.state, State::kOk);
  EXPECT_EQ(SandboxProgram().path, In("own/holdfast-linux-sandbox"));
}

TEST_F(ToolsTest, SaysThatTheSandboxProgramIsMissingAndWhereItBelongs) {
  const Finding finding = SandboxProgram().finding;
  EXPECT_EQ(finding.state, State::kMissing);
  EXPECT_EQ(finding.detail, In("own/holdfast-linux-sandbox") +
                                " is missing. It is installed with holdfast and must be in the same directory.");
}

TEST_F(ToolsTest, ASandboxProgramThatCannotBeExecutedIsNotMissing) {
  tree_.Write("own/holdfast-linux-sandbox", "", 0644);
  EXPECT_EQ(SandboxProgram().finding.state, State::kRefused);
  EXPECT_THAT(SandboxProgram().finding.detail, HasSubstr("Permission denied"));
}

TEST_F(ToolsTest, ADirectoryIsNoSandboxProgram) {
  tree_.Write("own/holdfast-linux-sandbox/file", "");
  EXPECT_EQ(SandboxProgram().finding.state, State::kRefused);
}

TEST_F(ToolsTest, TheReportNamesAMissingSandboxProgram) {
  Report report;
  report.sandbox_program = SandboxProgram();
  const std::string missing = In("own/holdfast-linux-sandbox") + " is missing";
  EXPECT_THAT(Text(report), HasSubstr("\nsandbox program   missing   " + missing));
  EXPECT_THAT(wire::Encode(report), HasSubstr(R"("sandboxProgram":{"state":"missing","detail":")" + missing));
}

TEST_F(ToolsTest, RipgrepIsMissingUntilItIsWhereTheLinkOfCommandsLeads) {
  tree_.Write("bin/rg", "", 0755);  // only commands with this directory in their PATH would find it
  Report report;
  report.ripgrep = ExamineRipgrep(Here());
  const std::string missing = In("usr/rg") +
                              " is missing, so commands find no rg unless their own PATH has one. "
                              "Install the package ripgrep.";
  EXPECT_EQ(report.ripgrep.finding.state, State::kMissing);
  EXPECT_THAT(Text(report), HasSubstr("\nripgrep           missing   " + missing + "\n"));
  EXPECT_THAT(wire::Encode(report), HasSubstr(R"("ripgrep":{"state":"missing","detail":")" + missing));

  tree_.Write("usr/rg", "", 0644);
  EXPECT_EQ(ExamineRipgrep(Here()).finding.state, State::kRefused);
  EXPECT_THAT(ExamineRipgrep(Here()).finding.detail, HasSubstr("Permission denied. Allow"));
  ASSERT_EQ(::chmod(In("usr/rg").c_str(), 0755), 0);
  report.ripgrep = ExamineRipgrep(Here());
  EXPECT_THAT(Text(report), HasSubstr("\nripgrep           ok        " + In("usr/rg") + "\n"));
}

TEST_F(ToolsTest, ASystemBubblewrapWithEverythingLacksNothing) {
  tree_.Write("bin/bwrap", Without(""), 0755);
  const BubblewrapReport report = ExamineBubblewrap(Here());
  EXPECT_EQ(report.finding.state, State::kOk);
  EXPECT_EQ(report.finding.detail, "");
  EXPECT_EQ(report.source, "system");
  EXPECT_THAT(report.missing_options, IsEmpty());
}

TEST_F(ToolsTest, SaysWhichOptionASystemBubblewrapIsPassedOverFor) {
  for (const std::string_view option : sandbox::kNeededOptions) {
    tree_.Write("bin/bwrap", Without(option), 0755);
    const BubblewrapReport report = ExamineBubblewrap(Here());
    EXPECT_EQ(report.finding.state, State::kMissing);
    EXPECT_THAT(report.finding.detail,
                AllOf(HasSubstr("no bubblewrap"),
                      HasSubstr(In("bin/bwrap") + " is not used: it has no " + std::string(option))));
  }
}

TEST_F(ToolsTest, SaysWhoCanWriteTheBubblewrapThatIsPassedOver) {
  tree_.Write("bin/bwrap", Without(""), 0755);
  tree_.Write("own/holdfast-resources/bwrap", Without(""), 0755);
  ASSERT_EQ(::chmod(In("bin").c_str(), 0775), 0);
  const BubblewrapReport report = ExamineBubblewrap(Here());
  EXPECT_EQ(report.source, "bundled");
  EXPECT_EQ(report.finding.detail, In("bin/bwrap") + " is not used: " + In("bin") + " can be written by others");
}

TEST_F(ToolsTest, SaysWhichOptionsTheBundledBubblewrapLacks) {
  tree_.Write("own/holdfast-resources/bwrap", Without("--args"), 0755);
  Report report;
  report.bubblewrap = ExamineBubblewrap(Here());
  EXPECT_EQ(report.bubblewrap.finding.state, State::kBroken);
  EXPECT_EQ(report.bubblewrap.source, "bundled");
  EXPECT_THAT(report.bubblewrap.missing_options, ElementsAre("--args"));
  EXPECT_THAT(Text(report), HasSubstr("bundled, without --args\n"));
}

TEST_F(ToolsTest, NobodyTakesABundledBubblewrapWithoutASandboxProgram) {
  tree_.Write("own/holdfast-resources/bwrap", Without(""), 0755);
  const BundledReport report = ExamineBundled(Here());
  EXPECT_EQ(report.finding.state, State::kRefused);
  EXPECT_THAT(report.finding.detail, HasSubstr(In("own/holdfast-linux-sandbox")));
}

TEST_F(ToolsTest, AsksTheSandboxProgramAboutTheBundledBubblewrap) {
  tree_.Write("own/holdfast-resources/bwrap", Without(""), 0755);
  tree_.Write("own/holdfast-linux-sandbox", "#!/bin/sh\necho 'another digest' >&2\nexit 8\n", 0755);
  EXPECT_EQ(ExamineBundled(Here()).finding.detail, "another digest");
  tree_.Write("own/holdfast-linux-sandbox", "#!/bin/sh\nexit 0\n", 0755);
  EXPECT_EQ(ExamineBundled(Here()).finding.state, State::kOk);
}

TEST(ReportTextTest, SaysOfWhatTheSandboxDoesNotUseThatItDoesNot) {
  Report report;
  report.cgroups.version = "v2";
  report.cgroups.delegated = {"cpu", "memory"};
  EXPECT_THAT(Text(report), AllOf(HasSubstr("v2, delegated: cpu, memory, not used by the sandbox\n"),
                                  testing::ContainsRegex("user-notify .*not used by the sandbox\n")));
}

}  // namespace
}  // namespace holdfast::doctor
