// Tests of several operations in one patch. Each operation sees the files as the ones before it leave them, under
// whatever name it reaches them.
#include "apply_patch/plan.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apply_patch/make_plan.h"
#include "apply_patch/working_dir.h"
#include "base/owned_fd.h"

namespace holdfast::apply_patch {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class PatchPlanTest : public WorkingDir {};

TEST_F(PatchPlanTest, ChangesOneFileByDifferentNames) {
  dir_.Write("d/a", "1\n");
  fs::create_symlink("d", "link");
  fs::create_hard_link("d/a", "hard");
  EXPECT_EQ(Problem("*** Update File: d/a\n-1\n+2\n*** Update File: link/../d/./a\n-2\n+3\n"
                    "*** Update File: link/a\n-3\n+4\n*** Update File: hard\n-4\n+5\n*** Update File: " +
                    dir_.path() + "/d/a\n-5\n+6\n"),
            "");
  EXPECT_EQ(Files(), (Tree{{"d/a", "6\n"}, {"hard", "6\n"}, {"link", "-> d"}}));
}

TEST_F(PatchPlanTest, WritesAFileOnceHoweverOftenItChanges) {
  dir_.Write("a", "1\n");
  const auto patch = ParsePatch(
      "*** Begin Patch\n*** Update File: a\n-1\n+2\n*** Update File: ./a\n-2\n+3\n*** Add File: a\n+4\n*** End Patch");
  const auto plan = MakePlan(*patch);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->steps.size(), 1u);
  EXPECT_EQ(plan->files[std::get<WriteFile>(plan->steps[0]).file].planned, "4\n");
  EXPECT_EQ(Read("a"), "1\n");
}

TEST_F(PatchPlanTest, SeesWhatWasAddedAndDeletedBefore) {
  dir_.Write("a", "1\n");
  EXPECT_EQ(Problem("*** Delete File: a\n*** Add File: a/b/c\n+x\n*** Update File: a/b/c\n-x\n+y\n"), "");
  EXPECT_EQ(Problem("*** Add File: n\n+1\n*** Delete File: n\n*** Add File: n\n+2\n"), "");
  EXPECT_EQ(Files(), (Tree{{"a/b/c", "y\n"}, {"n", "2\n"}}));
  EXPECT_THAT(Problem("*** Delete File: n\n*** Delete File: ./n\n"), HasSubstr("No such file"));
  EXPECT_THAT(Problem("*** Delete File: n\n*** Update File: n\n 2\n"), HasSubstr("No such file"));
  EXPECT_THAT(Problem("*** Add File: m\n+1\n*** Add File: m/x\n+1\n"), HasSubstr("Not a directory"));
  EXPECT_EQ(Files(), (Tree{{"a/b/c", "y\n"}, {"n", "2\n"}}));
}

TEST_F(PatchPlanTest, SwapsTwoFiles) {
  dir_.Write("a", "1\n");
  dir_.Write("b", "2\n");
  EXPECT_EQ(Problem("*** Update File: a\n*** Move to: t\n 1\n*** Update File: b\n*** Move to: a\n 2\n"
                    "*** Update File: t\n*** Move to: b\n 1\n"),
            "");
  EXPECT_EQ(Files(), (Tree{{"a", "2\n"}, {"b", "1\n"}}));
}

TEST_F(PatchPlanTest, UpdatesInPlaceWhatIsMovedOntoItself) {
  dir_.Write("a", "1\n");
  fs::create_symlink("a", "link");
  fs::create_hard_link("a", "hard");
  int number = 1;
  for (const char* target : {"a", "./a", "link", "hard"}) {
    const std::string chunk = fmt::format("-{}\n+{}\n", number, number + 1);
    EXPECT_EQ(Problem(fmt::format("*** Update File: a\n*** Move to: {}\n{}", target, chunk)), "") << target;
    const std::string content = std::to_string(++number) + "\n";
    EXPECT_EQ(Files(), (Tree{{"a", content}, {"hard", content}, {"link", "-> a"}})) << target;
  }
}

TEST_F(PatchPlanTest, MovesALinkAndLeavesItsTarget) {
  dir_.Write("t", "1\n");
  fs::create_symlink("t", "link");
  EXPECT_EQ(Problem("*** Update File: link\n*** Move to: b\n-1\n+2\n"), "");
  EXPECT_EQ(Files(), (Tree{{"b", "2\n"}, {"t", "1\n"}}));
}

TEST_F(PatchPlanTest, GivesAMovedFileItsPermissions) {
  ::umask(022);
  dir_.Write("a", "1\n", 0775);
  dir_.Write("secret", "1\n", 0600);
  dir_.Write("old", "1\n", 0640);
  EXPECT_EQ(Problem("*** Update File: a\n*** Move to: b\n 1\n*** Update File: b\n*** Move to: c\n 1\n"
                    "*** Update File: secret\n*** Move to: old\n 1\n*** Add File: n\n+1\n"),
            "");
  EXPECT_EQ(Status("c").st_mode & 07777, 0775u);
  EXPECT_EQ(Status("old").st_mode & 07777, 0640u);
  EXPECT_EQ(Status("n").st_mode & 07777, 0644u);
}

TEST_F(PatchPlanTest, FollowsLinksWhenItWritesAndNotWhenItDeletes) {
  dir_.Write("t", "1\n");
  fs::create_symlink("t", "link");
  fs::create_symlink("new", "dangling");
  EXPECT_EQ(Problem("*** Add File: link\n+2\n*** Add File: dangling\n+3\n*** Update File: new\n-3\n+4\n"), "");
  EXPECT_EQ(Files(), (Tree{{"dangling", "-> new"}, {"link", "-> t"}, {"new", "4\n"}, {"t", "2\n"}}));
  EXPECT_EQ(Problem("*** Delete File: link\n*** Add File: link\n+5\n"), "");
  EXPECT_EQ(Files(), (Tree{{"dangling", "-> new"}, {"link", "5\n"}, {"new", "4\n"}, {"t", "2\n"}}));
}

TEST_F(PatchPlanTest, MakesOnlyTheDirectoriesThatThePathNames) {
  fs::create_symlink("no/such", "into");
  fs::create_symlink("gone", "to_directory");
  fs::create_symlink("loop", "loop");
  const Tree before = Files();
  EXPECT_EQ(Problem("*** Add File: into\n+x\n"), "open into: No such file or directory");
  EXPECT_EQ(Problem("*** Add File: to_directory/x\n+x\n"), "open to_directory/x: No such file or directory");
  EXPECT_THAT(Problem("*** Add File: loop\n+x\n"), HasSubstr("Too many levels"));
  EXPECT_EQ(Files(), before);
  EXPECT_EQ(Problem("*** Add File: missing/../n/m/x\n+x\n*** Add File: n/y\n+y\n"), "");
  EXPECT_EQ(Read("n/m/x"), "x\n");
  EXPECT_EQ(Read("n/y"), "y\n");
  EXPECT_FALSE(fs::exists("missing"));
}

TEST_F(PatchPlanTest, RefusesToWriteAnythingButAFile) {
  fs::create_directory("d");
  ASSERT_EQ(::mkfifo("fifo", 0600), 0);
  fs::create_symlink("d", "link");
  for (const char* path : {"d", "link", ".", "/"}) {
    const std::string problem = fmt::format("open {}: Is a directory", path);
    EXPECT_EQ(Problem(fmt::format("*** Add File: {}\n+x\n", path)), problem);
    EXPECT_EQ(Problem(fmt::format("*** Update File: {}\n x\n", path)), problem);
    EXPECT_EQ(Problem(fmt::format("*** Delete File: {}\n", path)), problem);
  }
  for (const char* path : {"fifo", "/dev/null"}) {
    const std::string problem = fmt::format("open {}: not a regular file", path);
    EXPECT_EQ(Problem(fmt::format("*** Add File: {}\n+x\n", path)), problem);
    EXPECT_EQ(Problem(fmt::format("*** Update File: {}\n x\n", path)), problem);
  }
  EXPECT_EQ(Problem("*** Delete File: missing\n"), "open missing: No such file or directory");
  EXPECT_EQ(Files(), (Tree{{"d", "directory"}, {"fifo", "special"}, {"link", "-> d"}}));
  EXPECT_EQ(Problem("*** Delete File: fifo\n"), "");
}

// Content that was not read cannot be restored, so a lack of permission is the only reason to go on without it.
TEST_F(PatchPlanTest, RefusesToOverwriteAFileThatItFailsToRead) {
  dir_.Write("a", "1\n");
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const OwnedFd next(::dup(STDIN_FILENO));
  ASSERT_TRUE(next.is_open());
  // Only one descriptor is left. It is used to open the file for writing, so opening it for reading fails.
  const rlimit limit = {static_cast<rlim_t>(next.get()) + 2, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  const std::string problem = Problem("*** Add File: a\n+2\n");
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(problem, "open a: Too many open files");
  EXPECT_EQ(Read("a"), "1\n");
}

TEST_F(PatchPlanTest, UpdatesOnlyText) {
  dir_.Write("a", "x\n\xff\n");
  EXPECT_THAT(Problem("*** Update File: a\n x\n"), HasSubstr("not UTF-8"));
  EXPECT_EQ(Problem("*** Add File: a\n+y\n"), "");
  EXPECT_EQ(Read("a"), "y\n");
}

TEST_F(PatchPlanTest, ChangesNothingWhenALaterOperationDoesNotFit) {
  dir_.Write("a", "1\n");
  dir_.Write("b", "1\n");
  const Tree before = Files();
  const struct timespec written = Status("a").st_mtim;
  EXPECT_THAT(Problem("*** Update File: a\n-1\n+2\n*** Delete File: b\n*** Add File: c/d\n*** Update File: a\n-9\n"),
              HasSubstr("a: the lines of the chunk"));
  EXPECT_EQ(Files(), before);
  EXPECT_EQ(Status("a").st_mtim.tv_nsec, written.tv_nsec);
}

}  // namespace
}  // namespace holdfast::apply_patch
