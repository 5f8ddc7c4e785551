#include "escalate/caller/program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include <gtest/gtest.h>

#include "escalate/caller/fixed_path.h"
#include "support/scratch_dir.h"

namespace holdfast::escalate {
namespace {

using exec_policy::ProgramFile;

// A caller that is neither root nor the owner of any file.
constexpr CallerState kStranger{.process = 1, .capabilities = 0, .user = 12345};

class ProgramFileTest : public testing::Test {
 protected:
  static OrErrno<ProgramLook> Look(const std::string& path, const CallerState& caller = kStranger) {
    const auto program = FindProgram(view(), path);
    return program ? LookAtProgram(view(), *program, caller) : std::unexpected(program.error());
  }
  static const CallerView& view() {
    static const CallerView own = *CallerView::Of(::getpid());
    return own;
  }
  static int ErrorOf(const std::string& path) {
    const auto look = Look(path);
    return look ? 0 : look.error();
  }
  std::string Link(const std::string& name, const std::string& target) {
    std::string path = scratch_.path() + "/" + name;
    EXPECT_EQ(::symlink(target.c_str(), path.c_str()), 0);
    return path;
  }

  support::ScratchDir scratch_;
};

TEST_F(ProgramFileTest, FailsAsExecveDoes) {
  EXPECT_EQ(ErrorOf("/no/such/program"), ENOENT);
  EXPECT_EQ(ErrorOf("/etc/passwd/x"), ENOTDIR);
  EXPECT_EQ(ErrorOf("/etc/passwd"), EACCES);
  EXPECT_EQ(ErrorOf("/etc"), EACCES);
  EXPECT_EQ(ErrorOf("/dev/null"), EACCES);
  EXPECT_EQ(ErrorOf(Link("round", scratch_.path() + "/round")), ELOOP);
  EXPECT_EQ(ErrorOf(scratch_.Write("script", "#!/no/such\n", 0755)), ENOENT);
  EXPECT_EQ(ErrorOf("/bin/true"), 0);
}

TEST_F(ProgramFileTest, TellsAScriptThatNeedsAShell) {
  EXPECT_TRUE(Look(scratch_.Write("plain", "echo\n", 0755))->needs_shell);
  EXPECT_TRUE(Look(scratch_.Write("empty", "", 0755))->needs_shell);
  EXPECT_FALSE(Look(scratch_.Write("script", "#! /bin/sh -e\n", 0755))->needs_shell);
  EXPECT_FALSE(Look("/bin/true")->needs_shell);
}

TEST_F(ProgramFileTest, AStrangerFindsProgramsOfTheSystem) {
  EXPECT_EQ(Look("/usr/bin/env")->file, ProgramFile::kOfSystem);
  EXPECT_EQ(Look("/bin/sh")->file, ProgramFile::kOfSystem);  // through links
}

TEST_F(ProgramFileTest, NothingThatMayBeWrittenIsFixedForRootOrItsOwner) {
  struct stat status;
  ASSERT_EQ(::stat("/usr/bin/env", &status), 0);
  EXPECT_EQ(Look("/usr/bin/env", {.process = 1, .capabilities = ~0ULL, .user = 0})->file, ProgramFile::kWritable);
  EXPECT_EQ(Look("/usr/bin/env", {.process = 1, .capabilities = 0, .user = status.st_uid})->file,
            ProgramFile::kWritable);
}

// Everybody may make links in /tmp.
TEST_F(ProgramFileTest, ALinkInAWritableDirectoryIsNotFixedEvenIfItsTargetIs) {
  EXPECT_EQ(Look(Link("git", "/usr/bin/env"))->file, ProgramFile::kWritable);
  EXPECT_EQ(Look("/usr/../usr/bin/env")->file, ProgramFile::kWritable);  // a path that goes up is not examined
}

// The process could write these files under another policy, whatever the mounts of the present one are.
TEST_F(ProgramFileTest, AFileOfTheServersUserIsNotFixedOutside) {
  const std::string script = scratch_.Write("git", "#!/bin/sh\n", 0555);
  EXPECT_FALSE(IsFixedOutside(script, ::geteuid()));
  EXPECT_FALSE(IsFixedOutside(Link("link", "/usr/bin/env"), ::geteuid()));
  EXPECT_TRUE(IsFixedOutside("/usr/bin/env", ::geteuid()));
  EXPECT_TRUE(IsFixedOutside("/bin/sh", ::geteuid()));
}

TEST_F(ProgramFileTest, OnlyAFileInADirectoryOfTheSystemIsTheSystems) {
  EXPECT_TRUE(IsOfSystem("/usr/bin/env"));
  EXPECT_TRUE(IsOfSystem("/bin/sh"));
  EXPECT_FALSE(IsOfSystem("/etc/passwd"));
  EXPECT_FALSE(IsOfSystem("/usr/bin/../bin/env"));
  EXPECT_TRUE(IsFixedOutside("/etc/passwd", 0)) << "it belongs to root, and only root can write it";
}

// What another user owns is fixed for the user of this process, but that user may put anything there.
TEST_F(ProgramFileTest, AFileOfAnotherUserIsNotTheSystems) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files to another user";
  constexpr uid_t kEve = 54321, kBob = 54322;
  const std::string program = scratch_.Write("git", "#!/bin/sh\n", 0755);
  ASSERT_EQ(::chmod(scratch_.path().c_str(), 0755), 0);
  EXPECT_FALSE(IsOfSystem(program)) << "it lies elsewhere";
  ASSERT_EQ(::chown(program.c_str(), kEve, kEve), 0);
  EXPECT_FALSE(IsOfSystem(program));
  EXPECT_FALSE(IsFixedOutside(program, 0));
  EXPECT_FALSE(IsFixedOutside(program, kEve));
  EXPECT_FALSE(IsFixedOutside(program, kBob)) << "everybody may write the directory of temporary files";
}

TEST_F(ProgramFileTest, ReadsTheStateOfAThread) {
  const auto state = ReadCallerState(::gettid());
  ASSERT_TRUE(state);
  EXPECT_EQ(state->process, ::getpid());
  EXPECT_EQ(state->user, ::geteuid());
  EXPECT_EQ(ReadCallerState(1 << 30).error(), ESRCH);
}

}  // namespace
}  // namespace holdfast::escalate
