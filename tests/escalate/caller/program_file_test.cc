#include "escalate/caller/program_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/owned_fd.h"
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
    return LookAtProgram(::getpid(), path, caller);
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

TEST_F(ProgramFileTest, AProgramOfTheSystemIsFixedForAStranger) {
  EXPECT_EQ(Look("/usr/bin/env")->file, ProgramFile::kFixed);
  EXPECT_EQ(Look("/bin/sh")->file, ProgramFile::kFixed);  // through links
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

TEST_F(ProgramFileTest, AFileIsFixedForRootOnlyInADirectoryOfTheSystem) {
  EXPECT_TRUE(IsFixedOutside("/usr/bin/env", 0));
  EXPECT_FALSE(IsFixedOutside("/etc/passwd", 0));
}

TEST_F(ProgramFileTest, AProgramOfTheSystemIsNotFixedForItsOwner) {
  struct stat status;
  ASSERT_EQ(::stat("/etc/passwd", &status), 0);
  EXPECT_FALSE(IsFixedOutside("/etc/passwd", status.st_uid));
}

TEST_F(ProgramFileTest, AProgramBehindADescriptorIsLookedAtByItsLink) {
  const OwnedFd program(::open("/usr/bin/env", O_PATH | O_CLOEXEC));
  const std::string link = "fd/" + std::to_string(program.get());
  EXPECT_EQ(LookAtProgram(::getpid(), "/usr/bin/env", kStranger, link)->file, ProgramFile::kFixed);
  EXPECT_EQ(LookAtProgram(::getpid(), "/bin/sh", kStranger, link)->file, ProgramFile::kNotTheSame);
  EXPECT_EQ(LookAtProgram(::getpid(), "/bin/sh", kStranger, "fd/12345").error(), EBADF);
}

TEST_F(ProgramFileTest, ReadsTheInterpreterOfAScriptAsTheKernelDoes) {
  using Words = std::vector<std::string>;
  const auto interpreter = [this](const std::string& text) {
    return ReadInterpreter(::getpid(), scratch_.Write("script", text, 0755));
  };
  EXPECT_EQ(interpreter("#!/bin/sh\necho\n"), (Words{"/bin/sh"}));
  EXPECT_EQ(interpreter("#! \t/bin/sh  -e  -x \t\n"), (Words{"/bin/sh", "-e  -x"}));
  EXPECT_EQ(interpreter("#!sh"), (Words{"sh"}));
  EXPECT_EQ(interpreter(std::string("#!/bin/sh\0 -e\n", 14)), (Words{"/bin/sh"}));
  EXPECT_EQ(interpreter("#!"), Words());
  EXPECT_EQ(interpreter("#! \n/bin/sh"), Words());
  EXPECT_EQ(interpreter("/bin/sh\n"), Words());
  EXPECT_EQ(ReadInterpreter(::getpid(), "/dev/zero"), Words());
  EXPECT_EQ(ReadInterpreter(::getpid(), "/no/such"), Words());
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
