#include "files/disk/rename.h"

#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "files/disk/adversity.h"
#include "files/disk/storage_fixture.h"
#include "files/disk/tree_fixture.h"

namespace holdfast::files {
namespace {

class RenameTest : public StorageTest {};
HOLDFAST_ON_EACH_STORAGE(RenameTest);

TEST_P(RenameTest, MovesAName) {
  for (const Existing existing : {Existing::kReplace, Existing::kKeep}) {
    MakeFile("from", "text");
    EXPECT_TRUE(Succeeds(Rename(Path("from"), Path("to\xff\n"), existing, kNothingGuarded)));
    EXPECT_EQ(NamesIn(Path()), std::vector<std::string>{"to\xff\n"});
    EXPECT_EQ(ReadAll(Path("to\xff\n")), "text");
    ASSERT_EQ(::unlink(Path("to\xff\n").c_str()), 0);
  }
}

TEST_P(RenameTest, ReplacesOnlyWhenAsked) {
  MakeFile("from", "new");
  MakeFile("to", "old");
  EXPECT_TRUE(
      FailsWith(Rename(Path("from"), Path("to"), Existing::kKeep, kNothingGuarded), ErrorKind::kSystem, "File exists"));
  EXPECT_EQ(ReadAll(Path("to")), "old");
  EXPECT_TRUE(Succeeds(Rename(Path("from"), Path("to"), Existing::kReplace, kNothingGuarded)));
  EXPECT_EQ(ReadAll(Path("to")), "new");
  EXPECT_FALSE(Exists(Path("from")));
}

TEST_P(RenameTest, MovesAndReplacesLinksThemselves) {
  MakeFile("one", "one");
  MakeFile("two", "two");
  MakeLink("to_one", "one");
  MakeLink("to_two", "two");
  EXPECT_TRUE(FailsWith(Rename(Path("to_one"), Path("to_two"), Existing::kKeep, kNothingGuarded), ErrorKind::kSystem,
                        "File exists"));
  EXPECT_TRUE(Succeeds(Rename(Path("to_one"), Path("to_two"), Existing::kReplace, kNothingGuarded)));
  EXPECT_EQ(std::filesystem::read_symlink(Path("to_two")).string(), "one");
  EXPECT_EQ(ReadAll(Path("two")), "two");
}

TEST_P(RenameTest, SaysWhyADirectoryCannotBeMoved) {
  MakeDirectory("directory");
  MakeDirectory("full");
  MakeFile("full/file");
  MakeFile("file");
  for (const Existing existing : {Existing::kReplace, Existing::kKeep}) {
    EXPECT_TRUE(FailsWith(Rename(Path("directory"), Path("directory/below"), existing, kNothingGuarded),
                          ErrorKind::kInvalidRequest, "into itself"));
  }
  EXPECT_TRUE(FailsWith(Rename(Path("directory"), Path("full"), Existing::kReplace, kNothingGuarded),
                        ErrorKind::kSystem, "not empty"));
  EXPECT_TRUE(FailsWith(Rename(Path("directory"), Path("file"), Existing::kReplace, kNothingGuarded),
                        ErrorKind::kSystem, "Not a directory"));
  EXPECT_TRUE(FailsWith(Rename(Path("file"), Path("directory"), Existing::kReplace, kNothingGuarded),
                        ErrorKind::kSystem, "Is a directory"));
  EXPECT_TRUE(Succeeds(Rename(Path("full"), Path("directory"), Existing::kReplace, kNothingGuarded)));
}

TEST_P(RenameTest, SaysWhatIsMissing) {
  MakeFile("from");
  EXPECT_TRUE(
      FailsWith(Rename(Path("no"), Path("to"), Existing::kReplace, kNothingGuarded), ErrorKind::kNotFound, Path("no")));
  EXPECT_TRUE(FailsWith(Rename(Path("from"), Path("no/to"), Existing::kKeep, kNothingGuarded), ErrorKind::kNotFound,
                        Path("no/to")));
}

TEST_P(RenameTest, SaysThatItStaysWithinAFileSystem) {
  MakeFile("from");
  const std::string other = GetParam() == std::string("/tmp") ? "/dev/shm/" : "/tmp/";
  const std::string to = other + std::filesystem::path(Path()).filename().string() + ".to";
  EXPECT_TRUE(
      FailsWith(Rename(Path("from"), to, Existing::kReplace, kNothingGuarded), ErrorKind::kSystem, "one file system"));
  EXPECT_TRUE(Exists(Path("from")));
}

TEST_P(RenameTest, SaysWhatIsNotAllowed) {
  const AsOrdinaryUser user;
  MakeDirectory("locked");
  MakeFile("locked/file");
  const Locked locked(Path("locked"), 0555);
  EXPECT_TRUE(FailsWith(Rename(Path("locked/file"), Path("to"), Existing::kKeep, kNothingGuarded),
                        ErrorKind::kPermissionDenied, "to"));
}

class CanonicalizeTest : public StorageTest {};
HOLDFAST_ON_EACH_STORAGE(CanonicalizeTest);

TEST_P(CanonicalizeTest, LeavesAPathWithoutLinksAsItIs) {
  MakeDirectory("a");
  const std::string file = MakeFile("a/\xff\n");
  EXPECT_EQ(Canonicalize(file), file);
  EXPECT_EQ(Canonicalize(Path("a")), Path("a"));
  EXPECT_EQ(Canonicalize(Path()), Path());
  EXPECT_EQ(Canonicalize("/"), "/");
}

TEST_P(CanonicalizeTest, ResolvesLinksAnywhere) {
  MakeDirectory("a");
  MakeDirectory("a/b");
  MakeFile("a/b/file");
  MakeLink("absolute", Path("a/b"));
  MakeLink("a/up", "../a/./b//");
  MakeLink("a/b/over", "../../absolute/file");
  MakeLink("root", "/");
  EXPECT_EQ(Canonicalize(Path("absolute")), Path("a/b"));
  EXPECT_EQ(Canonicalize(Path("absolute/file")), Path("a/b/file"));
  EXPECT_EQ(Canonicalize(Path("a/up/file")), Path("a/b/file"));
  EXPECT_EQ(Canonicalize(Path("a/up/over")), Path("a/b/file"));
  EXPECT_EQ(Canonicalize(Path("root")), "/");
  EXPECT_EQ(Canonicalize(Path("root") + Path("absolute")), Path("a/b"));
}

TEST_P(CanonicalizeTest, SaysWhyThereIsNone) {
  MakeFile("file");
  MakeLink("loop", "loop");
  MakeLink("ping", "pong");
  MakeLink("pong", "ping");
  MakeLink("dangling", "nowhere");
  MakeLink("file_as_directory", "file/");
  for (const char* name : {"missing", "missing/too", "dangling", "dangling/too"}) {
    EXPECT_TRUE(FailsWith(Canonicalize(Path(name)), ErrorKind::kNotFound, Path(name))) << name;
  }
  for (const char* name : {"loop", "ping", "loop/too"}) {
    EXPECT_TRUE(FailsWith(Canonicalize(Path(name)), ErrorKind::kSystem, "symbolic links")) << name;
  }
  for (const char* name : {"file/too", "file_as_directory"}) {
    EXPECT_TRUE(FailsWith(Canonicalize(Path(name)), ErrorKind::kSystem, "Not a directory")) << name;
  }
  EXPECT_TRUE(FailsWith(Canonicalize(Path(std::string(300, 'x'))), ErrorKind::kSystem, "too long"));
}

TEST_P(CanonicalizeTest, AgreesWithTheKernelOnHowManyLinksAreTooMany) {
  MakeFile("0");
  for (int i = 1; i <= 41; ++i) MakeLink(std::to_string(i), std::to_string(i - 1));
  EXPECT_TRUE(Exists(Path("40")) && std::filesystem::exists(Path("40")));
  EXPECT_EQ(Canonicalize(Path("40")), Path("0"));
  EXPECT_TRUE(FailsWith(Canonicalize(Path("41")), ErrorKind::kSystem, "symbolic links"));
}

TEST_P(CanonicalizeTest, KnowsPathsOfAnyLength) {
  const std::string name(250, 'n');
  std::string way;
  for (int i = 0; i < 10; ++i) MakeDirectory((way += (i == 0 ? "" : "/") + name));
  const std::string half = Path(way);
  MakeLink("link", half);
  // Below a path of 2500 bytes there is another one of 2500 bytes, which can be reached only through a link.
  for (int i = 0; i < 10; ++i) MakeDirectory("link/" + (way = i == 0 ? name : way + "/" + name));
  EXPECT_EQ(Canonicalize(Path("link/" + way)), half + "/" + way);
  EXPECT_GT(half.size() + way.size(), 4096u);
  EXPECT_EQ(Canonicalize(half + "/" + way), half + "/" + way);
}

TEST_P(CanonicalizeTest, NeedsNoPermissionToRead) {
  const AsOrdinaryUser user;
  MakeDirectory("passable");
  MakeFile("passable/file", "", 0);
  const Locked passable(Path("passable"), 0111);
  EXPECT_EQ(Canonicalize(Path("passable/file")), Path("passable/file"));
  const Locked locked(MakeDirectory("locked"), 0);
  EXPECT_TRUE(FailsWith(Canonicalize(Path("locked/file")), ErrorKind::kPermissionDenied, "locked"));
  EXPECT_EQ(Canonicalize(Path("locked")), Path("locked"));
}

}  // namespace
}  // namespace holdfast::files
