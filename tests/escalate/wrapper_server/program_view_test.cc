#include "escalate/wrapper_server/program_view.h"

#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/program.h"
#include "support/scratch_dir.h"

namespace holdfast::escalate {
namespace {

using exec_policy::ProgramFile;

class ProgramViewTest : public testing::Test {
 protected:
  static std::optional<ProgramView> View(const std::string& path) { return ViewProgram(::getpid(), path); }

  support::ScratchDir scratch_;
};

TEST_F(ProgramViewTest, SeesThatTheCallerCanChangeAFile) {
  EXPECT_EQ(View(scratch_.Write("script", "#!/bin/sh\n", 0755))->file, ProgramFile::kWritable);
}

TEST_F(ProgramViewTest, HasNothingOfAFileThatCannotBeExecuted) {
  EXPECT_EQ(View(scratch_.path() + "/missing"), std::nullopt);
  EXPECT_EQ(View(scratch_.path()), std::nullopt);
  EXPECT_EQ(View(scratch_.Write("plain", "#!/bin/sh\n", 0644)), std::nullopt);
}

TEST_F(ProgramViewTest, TakesAScriptWithoutAnInterpreterLineForAnotherProgram) {
  EXPECT_EQ(View(scratch_.Write("script", "echo hello\n", 0755))->file, ProgramFile::kNotTheSame);
}

TEST_F(ProgramViewTest, HasAllPathsOfAProgramAndOfItsInterpreter) {
  const std::string script = scratch_.Write("script", "#!/usr/bin/../bin/env sh\n", 0755),
                    link = scratch_.path() + "/link";
  ASSERT_EQ(::symlink("script", link.c_str()), 0);
  const auto view = View(scratch_.path() + "/./link");
  ASSERT_TRUE(view);
  EXPECT_EQ(view->path, link);
  EXPECT_THAT(view->other_paths, testing::ElementsAre(script));
  EXPECT_THAT(view->interpreter, testing::ElementsAre("/usr/bin/../bin/env", "sh"));
  EXPECT_THAT(view->interpreter_paths, testing::ElementsAre("/usr/bin/env"));
  EXPECT_EQ(View("/proc/self/root" + script)->path, script);
}

TEST_F(ProgramViewTest, FindsAProgramBelowTheDirectoryOfItsCaller) {
  support::Program caller({"/bin/sh", "-c", "cd /usr && echo ready && exec sleep 1000"});
  caller.AwaitOutput("ready");
  const auto view = ViewProgram(caller.pid(), "./bin/env");
  ASSERT_TRUE(view);
  EXPECT_EQ(view->path, "/usr/bin/env");
  EXPECT_EQ(view->cwd, "/usr");
  ASSERT_TRUE(view->directory);
  EXPECT_EQ(view->directory->path, "/usr");
}

TEST_F(ProgramViewTest, HasNothingOfAProcessThatHasEnded) {
  support::Program program({"true"});
  const pid_t pid = program.pid();
  (void)program.Finish();
  EXPECT_FALSE(ViewProgram(pid, "/bin/true"));
  EXPECT_FALSE(ViewProgram(0, "/bin/true"));
}

}  // namespace
}  // namespace holdfast::escalate
