#include "escalate/wrapper_server/program_view.h"

#include <unistd.h>

#include <gtest/gtest.h>

#include "support/program.h"
#include "support/scratch_dir.h"

namespace holdfast::escalate {
namespace {

using exec_policy::ProgramFile;

class ProgramViewTest : public testing::Test {
 protected:
  std::optional<ProgramFile> View(const std::string& path) { return ViewProgram(::getpid(), path); }

  support::ScratchDir scratch_;
};

TEST_F(ProgramViewTest, SeesThatTheCallerCanChangeAFile) {
  EXPECT_EQ(View(scratch_.Write("script", "#!/bin/sh\n", 0755)), ProgramFile::kWritable);
}

TEST_F(ProgramViewTest, HasNothingOfAFileThatCannotBeExecuted) {
  EXPECT_EQ(View(scratch_.path() + "/missing"), std::nullopt);
  EXPECT_EQ(View(scratch_.path()), std::nullopt);
  EXPECT_EQ(View(scratch_.Write("plain", "#!/bin/sh\n", 0644)), std::nullopt);
}

TEST_F(ProgramViewTest, TakesAScriptWithoutAnInterpreterLineForAnotherProgram) {
  EXPECT_EQ(View(scratch_.Write("script", "echo hello\n", 0755)), ProgramFile::kNotTheSame);
}

TEST_F(ProgramViewTest, HasNothingOfAProcessThatHasEnded) {
  support::Program program({"true"});
  const pid_t pid = program.pid();
  (void)program.Finish();
  EXPECT_EQ(ViewProgram(pid, "/bin/true"), std::nullopt);
  EXPECT_EQ(ViewProgram(0, "/bin/true"), std::nullopt);
}

}  // namespace
}  // namespace holdfast::escalate
