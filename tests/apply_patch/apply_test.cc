// Tests of the files that are left when a plan fails half way: by a limit on the size of files, by a full disk, or by a
// step that cannot be done.
#include "apply_patch/apply.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include <fmt/format.h>

#include "apply_patch/working_dir.h"
#include "support/small_tmpfs.h"

namespace holdfast::apply_patch {
namespace {

namespace fs = std::filesystem;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class ApplyPlanTest : public WorkingDir {};

// While a FileSizeLimit exists, no file of this process may grow beyond `bytes`.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit = {bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    (void)std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_;
  void (*handler_)(int);
};

std::string LargeFile(const std::string& path) {
  return fmt::format("*** Add File: {}\n+{}\n", path, std::string(10'000, 'x'));
}

std::string Same(const struct stat& status) {
  return fmt::format("inode {} mode {:o} links {} mtime {}.{}", status.st_ino, status.st_mode, status.st_nlink,
                     status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

TEST_F(ApplyPlanTest, KeepsLinksAndModesOfWhatItWrites) {
  dir_.Write("a", "1\n", 0750);
  fs::create_hard_link("a", "b");
  EXPECT_EQ(Problem("*** Update File: a\n-1\n+2\n"), "");
  EXPECT_EQ(Files(), (Tree{{"a", "2\n"}, {"b", "2\n"}}));
  EXPECT_EQ(Status("b").st_mode & 07777, 0750u);
  EXPECT_EQ(Problem("*** Add File: b\n"), "");
  EXPECT_EQ(Files(), (Tree{{"a", ""}, {"b", ""}}));
}

TEST_F(ApplyPlanTest, PutsEverythingBackWhenAWriteFails) {
  dir_.Write("changed", "1\n", 0750);
  dir_.Write("longer", std::string(100, 'y') + "\n");
  dir_.Write("removed", "r\n", 0640);
  fs::create_hard_link("removed", "other name");
  dir_.Write("moved", "m\n");
  fs::create_symlink("target", "dangling");
  const Tree before = Files();
  const std::string changed = Same(Status("changed")), removed = Same(Status("removed"));
  const std::string patch =
      "*** Update File: changed\n-1\n+2\n*** Add File: longer\n+short\n*** Delete File: removed\n"
      "*** Add File: removed/below/it\n+x\n*** Add File: dangling\n+x\n"
      "*** Update File: moved\n*** Move to: new/place\n-m\n+M\n";
  {
    const FileSizeLimit limit(5000);
    const std::string problem = Problem(patch + LargeFile("new/large") + "*** Delete File: changed\n");
    EXPECT_THAT(problem, HasSubstr("write new/large: File too large"));
    EXPECT_THAT(problem, HasSubstr("every file is as it was"));
  }
  EXPECT_EQ(Files(), before);
  EXPECT_EQ(Same(Status("changed")), changed);
  EXPECT_EQ(Same(Status("removed")), removed);
  EXPECT_EQ(Problem(patch), "");
  EXPECT_EQ(Files(), (Tree{{"changed", "2\n"},
                           {"longer", "short\n"},
                           {"removed/below/it", "x\n"},
                           {"other name", "r\n"},
                           {"dangling", "-> target"},
                           {"target", "x\n"},
                           {"new/place", "M\n"}}));
}

TEST_F(ApplyPlanTest, PutsAHalfWrittenFileBack) {
  const std::string line(4000, 'y');
  dir_.Write("a", "1\n" + line + "\n");
  const Tree before = Files();
  {
    const FileSizeLimit limit(5000);
    EXPECT_THAT(Problem(fmt::format("*** Update File: a\n-1\n+{}\n", std::string(3000, 'x'))),
                HasSubstr("every file is as it was"));
  }
  EXPECT_EQ(Files(), before);
}

TEST_F(ApplyPlanTest, PutsEverythingBackOnAFullDisk) {
  const support::SmallTmpfs small(256u << 10);
  if (!small.why_not().empty()) GTEST_SKIP() << small.why_not();
  fs::current_path(small.path());
  const std::string old(150'000, 'o');
  std::ofstream("a", std::ios::binary) << old << "\n";
  const std::string grown(250'000, 'x');
  EXPECT_THAT(Problem(fmt::format("*** Add File: b\n+{}\n*** Add File: a\n+{}\n", std::string(60'000, 'b'), grown)),
              HasSubstr("No space left on device; every file is as it was"));
  EXPECT_EQ(Files(), (Tree{{"a", old + "\n"}}));
}

TEST_F(ApplyPlanTest, NamesWhatItCannotPutBack) {
  dir_.Write("a", "1\n");
  Plan plan;
  // A plan has such an entry, without the original content, for a file that may be written but not read.
  plan.files = {{.on_disk = sys::FileIdentity::Of(Status("a")), .planned = "2\n"}};
  plan.steps = {WriteFile{"a", 0}, MakeDirectory{"missing/d"}};
  const auto done = Apply(plan);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("mkdir missing/d"));
  EXPECT_THAT(done.error().message, HasSubstr("could not be restored and are changed:\n  a: "));
  EXPECT_THAT(done.error().message, Not(HasSubstr("as it was")));
}

TEST_F(ApplyPlanTest, DoesNotWriteWhatHasTakenTheFilesPlace) {
  dir_.Write("a", "1\n");
  dir_.Write("b", "1\n");
  Plan plan;
  plan.files = {{.on_disk = sys::FileIdentity::Of(Status("a")), .planned = "2\n"}, {.planned = "2\n"}};
  plan.steps = {WriteFile{"b", 0}};
  const auto replaced = Apply(plan);
  ASSERT_FALSE(replaced);
  EXPECT_THAT(replaced.error().message, HasSubstr("open b: another program has replaced the file"));
  plan.steps = {CreateFile{"b", "b", 1}};
  EXPECT_FALSE(Apply(plan));
  fs::create_symlink("b", "link");
  plan.steps = {CreateFile{"link", "b", 1}};
  const auto created = Apply(plan);
  ASSERT_FALSE(created);
  EXPECT_THAT(created.error().message, HasSubstr("open link: another program has created the file"));
  fs::remove("link");
  EXPECT_EQ(Files(), (Tree{{"a", "1\n"}, {"b", "1\n"}}));
}

// Two programs that apply patches at the same time may need the same directory. A patch that fails leaves the directory
// to the other.
TEST_F(ApplyPlanTest, UsesADirectoryThatWasMadeMeanwhile) {
  fs::create_directory("d");
  Plan plan;
  plan.files = {{.planned = "2\n"}};
  plan.steps = {MakeDirectory{"d"}, CreateFile{"d/a", "d/a", 0}, MakeDirectory{"missing/d"}};
  EXPECT_FALSE(Apply(plan));
  EXPECT_EQ(Files(), (Tree{{"d", "directory"}}));
}

TEST_F(ApplyPlanTest, LeavesNoOtherFilesBehind) {
  dir_.Write("a", "1\n");
  dir_.Write("b", "1\n");
  EXPECT_EQ(Problem("*** Delete File: a\n*** Delete File: b\n*** Add File: c\n"), "");
  EXPECT_EQ(Files(), (Tree{{"c", ""}}));
}

TEST_F(ApplyPlanTest, NamesEveryRemovedFileThatIsStillThere) {
  // A directory in the place of a file can be renamed, but not unlinked.
  fs::create_directories("first");
  dir_.Write("file", "1\n");
  fs::create_directories("second");
  Plan plan;
  plan.files = {{.planned = "2\n"}};
  plan.steps = {RemoveName{"first"}, RemoveName{"file"}, RemoveName{"second"}, CreateFile{"new", "new", 0}};
  const auto done = Apply(plan);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, MatchesRegex("the patch is applied, but these removed files are still there:\n"
                                                 "  first \\(now \\.apply_patch\\.[-0-9a-f]+\\): Is a directory\n"
                                                 "  second \\(now \\.apply_patch\\.[-0-9a-f]+\\): Is a directory"));
  EXPECT_EQ(Files().size(), 3u);
  EXPECT_EQ(Read("new"), "2\n");
  EXPECT_FALSE(fs::exists("file"));
}

TEST_F(ApplyPlanTest, DoesNotPutAFileBackOverAnotherOne) {
  dir_.Write("a", "old\n");
  fs::create_symlink("a", "link");
  Plan plan;
  plan.files = {{.planned = "other\n"}};
  // The place in the plan is not the one that the link leads to, so undoing does not find the file that was created at
  // `a`.
  plan.steps = {RemoveName{"a"}, CreateFile{"link", "elsewhere", 0}, MakeDirectory{"missing/d"}};
  const auto done = Apply(plan);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, ContainsRegex("a \\(now \\.apply_patch\\.[-0-9a-f]+\\): rename .*: File exists"));
  EXPECT_EQ(Read("a"), "other\n");
  std::string kept;
  for (const auto& [name, content] : Files()) {
    if (name.starts_with(".apply_patch.")) kept = content;
  }
  EXPECT_EQ(kept, "old\n");
}

TEST_F(ApplyPlanTest, NamesTheCallThatFailed) {
  Plan plan;
  plan.steps = {RemoveName{"missing"}, MakeDirectory{"d"}};
  const auto done = Apply(plan);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "rename missing: No such file or directory; every file is as it was");
}

volatile std::sig_atomic_t files_at_signal = -1;

// The signal handler counts the files named `first` and `second` that exist when the signal arrives.
void CountFiles(int) {
  files_at_signal = (::access("first", F_OK) == 0 ? 1 : 0) + (::access("second", F_OK) == 0 ? 1 : 0);
}

// The write that exceeds the limit raises SIGXFSZ at once, when `first` is written and `second` is half written.
TEST_F(ApplyPlanTest, LetsASignalWaitUntilAllFilesAreAsTheyWere) {
  files_at_signal = -1;
  {
    const FileSizeLimit limit(5000);
    (void)std::signal(SIGXFSZ, CountFiles);
    EXPECT_THAT(Problem("*** Add File: first\n+1\n" + LargeFile("second")), HasSubstr("every file is as it was"));
  }
  EXPECT_EQ(files_at_signal, 0);
}

}  // namespace
}  // namespace holdfast::apply_patch
