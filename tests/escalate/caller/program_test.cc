#include "escalate/caller/program.h"

#include <fcntl.h>
#include <linux/limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "support/program.h"
#include "support/scratch_dir.h"

namespace holdfast::escalate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ProgramTest : public testing::Test {
 protected:
  static OrErrno<Program> Find(const std::string& path, const std::string& directory = "cwd") {
    return FindProgram(*CallerView::Of(::gettid()), path, directory);
  }
  static int ErrorOf(const std::string& path, const std::string& directory = "cwd") {
    const auto program = Find(path, directory);
    return program ? 0 : program.error();
  }
  std::string In(const std::string& name) const { return real_ + "/" + name; }
  std::string Link(const std::string& name, const std::string& target) const {
    EXPECT_EQ(::symlink(target.c_str(), In(name).c_str()), 0);
    return In(name);
  }

  support::ScratchDir scratch_;
  const std::string real_ = std::filesystem::canonical(scratch_.path());
  const std::string program_ = scratch_.Write("program", "", 0755);
};

// Links in links, to absolute and to relative targets, and paths that go up behind a link.
TEST_F(ProgramTest, FollowsEveryLink) {
  ASSERT_EQ(::mkdir(In("deep").c_str(), 0755), 0);
  Link("one", In("program"));
  Link("two", "./one");
  Link("deep/up", "../two");
  Link("directory", "deep");
  Link("again", "directory/../deep/../two");
  for (const char* name : {"one", "two", "deep/up", "directory/up", "again", "directory/../one"}) {
    EXPECT_EQ(Find(In(name))->path, In(name));
    EXPECT_THAT(Find(In(name))->other_paths, ElementsAre(In("program"))) << name;
  }
  EXPECT_THAT(Find(In("program"))->other_paths, IsEmpty());
}

TEST_F(ProgramTest, LeavesOutThePartsOfAPathThatLeadNowhere) {
  const auto program = Find("/" + real_ + "//./program");
  EXPECT_EQ(program->path, In("program"));
  EXPECT_THAT(program->other_paths, IsEmpty());
}

// The links lead to what the calling process has, and not to what the process has that looks.
TEST_F(ProgramTest, FollowsTheLinksOfTheProcessThatCalls) {
  const OwnedFd program(::open(In("program").c_str(), O_PATH | O_CLOEXEC));
  const OwnedFd directory(::open(real_.c_str(), O_PATH | O_CLOEXEC));
  const std::string number = std::to_string(program.get()), above = std::to_string(directory.get());
  const std::string link = Link("link", "/proc/self/fd/" + number);
  const std::string own_root = "/proc/thread-self/root" + In("program");
  for (const std::string& path :
       {"/proc/self/fd/" + number, "/proc/thread-self/fd/" + number, "/dev/fd/" + number, link,
        "/proc/self/fd/" + above + "/program", "/proc/self/root" + In("program"), own_root,
        "/proc/" + std::to_string(::getpid()) + "/root/proc/self/root" + In("program")}) {
    const auto found = Find(path);
    ASSERT_TRUE(found) << path << ": " << found.error();
    EXPECT_EQ(found->path, In("program")) << path;
    EXPECT_THAT(found->other_paths, IsEmpty()) << path;
  }
  EXPECT_EQ(Find("", "fd/" + number)->path, In("program"));
  EXPECT_EQ(Find("program", "fd/" + above)->path, In("program"));
}

// Neither the working directory nor the descriptors of the process that looks count.
TEST_F(ProgramTest, SeesWithTheEyesOfAnotherProcess) {
  support::Program other({"/bin/sh", "-c", "cd " + real_ + " && exec 3< program && echo ready && exec sleep 1000"});
  other.AwaitOutput("ready");
  const CallerView view = *CallerView::Of(other.pid());
  for (const char* path : {"program", "./program", "/proc/self/cwd/program", "/proc/self/fd/3", "/dev/fd/3"}) {
    const auto program = FindProgram(view, path);
    ASSERT_TRUE(program) << path << ": " << program.error();
    EXPECT_EQ(program->path, In("program")) << path;
  }
  // The directory of the process is that of another /proc, where a path that goes up would leave its view.
  EXPECT_EQ(FindProgram(view, "/proc/self/../self/cwd/program").error(), EACCES);
  other.Signal(SIGKILL);
}
TEST_F(ProgramTest, ReadsTheInterpreterOfAScriptAsTheKernelDoes) {
  using Words = std::vector<std::string>;
  const auto interpreter = [this](const std::string& text) {
    return Find(scratch_.Write("script", text, 0755))->interpreter;
  };
  EXPECT_EQ(interpreter("#!/bin/sh\necho\n"), (Words{"/bin/sh"}));
  EXPECT_EQ(interpreter("#! \t/bin/sh  -e  -x \t\n"), (Words{"/bin/sh", "-e  -x"}));
  EXPECT_EQ(interpreter("#!sh"), (Words{"sh"}));
  EXPECT_EQ(interpreter(std::string("#!/bin/sh\0 -e\n", 14)), (Words{"/bin/sh"}));
  EXPECT_EQ(interpreter("#!"), Words());
  EXPECT_EQ(interpreter("#! \n/bin/sh"), Words());
  EXPECT_EQ(interpreter("/bin/sh\n"), Words());
  EXPECT_EQ(Find("/dev/zero")->interpreter, Words());
}

TEST_F(ProgramTest, FindsTheInterpretersOfScripts) {
  scratch_.Write("inner", "#!/usr/bin/../bin/env sh\n", 0755);
  const std::string outer = scratch_.Write("outer", "#!" + Link("sh", "inner") + "\n", 0755);
  const auto program = Find(outer);
  EXPECT_THAT(program->interpreter, ElementsAre(In("sh")));
  EXPECT_THAT(program->interpreter_paths, ElementsAre(In("inner"), "/usr/bin/../bin/env", "/usr/bin/env"));
  EXPECT_EQ(program->executables.size(), 3u) << "the script, its interpreter, which is a script, and env";
  EXPECT_EQ(Find(scratch_.Write("endless", "#!" + In("endless") + "\n", 0755))->executables.size(), 6u);
  EXPECT_EQ(Find(scratch_.Write("lost", "#!/no/such\n", 0755))->executables.size(), 1u);
}

TEST_F(ProgramTest, FailsAsTheKernelDoes) {
  EXPECT_EQ(ErrorOf(In("missing")), ENOENT);
  EXPECT_EQ(ErrorOf(In("program/")), ENOTDIR);
  EXPECT_EQ(ErrorOf(In("program/.")), ENOTDIR);
  EXPECT_EQ(ErrorOf(In("program/x")), ENOTDIR);
  EXPECT_EQ(ErrorOf(Link("round", In("round"))), ELOOP);
  EXPECT_EQ(ErrorOf(Link("self", "self/x")), ELOOP);
  EXPECT_EQ(ErrorOf(In(std::string(NAME_MAX + 1, 'x'))), ENAMETOOLONG);
  EXPECT_EQ(ErrorOf("", "fd/12345"), EBADF);
  EXPECT_EQ(ErrorOf("/proc/self/fd/12345"), ENOENT);
  EXPECT_EQ(ErrorOf("x", "fd/12345"), EBADF);
}

}  // namespace
}  // namespace holdfast::escalate
