// Tests of file requests that meet the placeholder of a sandbox (sys/placeholder.h). To them the name is missing, and a
// file or directory that the client makes under it belongs to the client.
#include <fcntl.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "files/disk/copy.h"
#include "files/disk/directory.h"
#include "files/disk/file.h"
#include "files/disk/metadata.h"
#include "files/disk/remove.h"
#include "files/disk/rename.h"
#include "files/disk/storage_fixture.h"
#include "files/disk/walk.h"
#include "files/disk/write_file.h"
#include "sys/placeholder.h"

namespace holdfast::files {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class PlaceholderViewTest : public StorageTest {
 protected:
  void SetUp() override {
    sys::ExpectPlaceholdersOfAnyName();
    MakeDirectory("tree");
    directory_ = MakeDirectory("tree/.git", sys::kPlaceholderDirectoryMode);
    file_ = MakeFile("tree/secret", "", sys::kPlaceholderFileMode);
  }

  bool AreThere() const { return sys::IsPlaceholderAt(AT_FDCWD, directory_) && sys::IsPlaceholderAt(AT_FDCWD, file_); }

  std::string directory_, file_;
};
HOLDFAST_ON_EACH_STORAGE(PlaceholderViewTest);

TEST_P(PlaceholderViewTest, NothingIsThereToBeLookedAt) {
  for (const std::string& path : {directory_, file_, MakeLink("link", directory_)}) {
    for (const Symlinks symlinks : {Symlinks::kFollow, Symlinks::kRefuse}) {
      if (path == Path("link") && symlinks == Symlinks::kRefuse) continue;
      EXPECT_TRUE(FailsWith(GetMetadata(path, symlinks), ErrorKind::kNotFound, path));
      EXPECT_FALSE(GetCachedMetadata(path, symlinks)) << "to look into it may block";
      EXPECT_TRUE(FailsWith(File::OpenForReading(path, symlinks), ErrorKind::kNotFound, path));
    }
    EXPECT_TRUE(FailsWith(Canonicalize(path), ErrorKind::kNotFound, path));
    EXPECT_TRUE(FailsWith(Canonicalize(path + "/.."), ErrorKind::kNotFound, path));
    EXPECT_TRUE(FailsWith(Walk(path, {}), ErrorKind::kNotFound, path));
  }
  EXPECT_TRUE(FailsWith(ReadDirectory(directory_, 9), ErrorKind::kNotFound, directory_));
}

TEST_P(PlaceholderViewTest, NothingIsListed) {
  MakeLink("tree/link", ".git");
  MakeFile("tree/kept");
  const auto listed = ReadDirectory(Path("tree"), 9);
  ASSERT_TRUE(Succeeds(listed));
  ASSERT_EQ(listed->size(), 1u);
  EXPECT_EQ(listed->front().name, "kept");
  for (const bool follow : {false, true}) {
    const auto walked = Walk(Path(), {.max_depth = 9,
                                      .max_directories = 9,
                                      .max_entries = 99,
                                      .max_path_bytes = 9999,
                                      .follow_directory_links = follow});
    ASSERT_TRUE(Succeeds(walked));
    std::vector<std::string> paths;
    for (const WalkEntry& entry : walked->entries) paths.push_back(entry.path);
    EXPECT_THAT(paths, ElementsAre(Path("tree"), Path("tree/kept")));
  }
}

TEST_P(PlaceholderViewTest, NothingIsCopiedMovedOrRemoved) {
  EXPECT_TRUE(
      FailsWith(Copy(directory_, Path("copy"), Depth::kTree, kNothingGuarded), ErrorKind::kNotFound, directory_));
  EXPECT_TRUE(FailsWith(Copy(file_, Path("copy"), Depth::kSingle, kNothingGuarded), ErrorKind::kNotFound, file_));
  EXPECT_TRUE(Succeeds(Copy(Path("tree"), Path("copy"), Depth::kTree, kNothingGuarded)));
  EXPECT_THAT(NamesIn(Path("copy")), IsEmpty());
  for (const std::string& path : {directory_, file_}) {
    EXPECT_TRUE(
        FailsWith(Rename(path, Path("moved"), Existing::kReplace, kNothingGuarded), ErrorKind::kNotFound, path));
    EXPECT_TRUE(FailsWith(Remove(path, {.absence = Absence::kIsError}, kNothingGuarded), ErrorKind::kNotFound, path));
    EXPECT_TRUE(Succeeds(Remove(path, {.absence = Absence::kIsFine}, kNothingGuarded)));
  }
  EXPECT_TRUE(AreThere()) << "a sandbox has something mounted over it";
}

TEST_P(PlaceholderViewTest, ATreeIsRemovedWithThem) {
  EXPECT_TRUE(Succeeds(Remove(Path("tree"), {}, kNothingGuarded)));
  EXPECT_THAT(NamesIn(Path()), IsEmpty());
}

TEST_P(PlaceholderViewTest, ADirectoryThatIsMadeIsTheUsers) {
  EXPECT_TRUE(Succeeds(CreateDirectory(directory_, Parents::kMustExist, Symlinks::kFollow, kNothingGuarded)));
  EXPECT_EQ(PermissionsOf(directory_), 0755u);
  EXPECT_TRUE(Succeeds(GetMetadata(directory_, Symlinks::kFollow)));
}

TEST_P(PlaceholderViewTest, ADirectoryOnTheWayIsTheUsers) {
  EXPECT_TRUE(Succeeds(CreateDirectory(directory_ + "/hooks", Parents::kCreate, Symlinks::kRefuse, kNothingGuarded)));
  EXPECT_EQ(PermissionsOf(directory_), 0755u);
  EXPECT_THAT(NamesIn(directory_), ElementsAre("hooks"));
}

TEST_P(PlaceholderViewTest, AFileThatIsWrittenIsTheUsers) {
  const ino_t before = StatOf(file_).st_ino;
  EXPECT_TRUE(Succeeds(WriteFile(file_, Bytes("text"), {}, kNothingGuarded)));
  EXPECT_EQ(ReadAll(file_), "text");
  EXPECT_EQ(PermissionsOf(file_), 0644u);
  EXPECT_EQ(StatOf(file_).st_ino, before) << "what is mounted over it would be gone";
}

TEST_P(PlaceholderViewTest, WhatIsCopiedThereIsTheUsers) {
  MakeDirectory("source");
  MakeFile("source/secret", "text", 0600);
  MakeDirectory("source/.git", 0700);
  EXPECT_TRUE(Succeeds(Copy(Path("source"), Path("tree"), Depth::kTree, kNothingGuarded)));
  EXPECT_EQ(ReadAll(file_), "text");
  EXPECT_EQ(PermissionsOf(file_), 0600u);
  EXPECT_EQ(PermissionsOf(directory_), 0700u);
}

TEST_P(PlaceholderViewTest, NothingOfAnotherKindTakesTheirPlace) {
  const std::string directory = MakeDirectory("directory"), file = MakeFile("file", "text");
  EXPECT_TRUE(FailsWith(WriteFile(directory_, Bytes("gitdir: x"), {}, kNothingGuarded), ErrorKind::kSystem, "busy"));
  EXPECT_TRUE(FailsWith(
      WriteFile(file_, Bytes("x"), {.replacement = Replacement::kAtomic, .expected_sha256 = {}}, kNothingGuarded),
      ErrorKind::kSystem, "busy"));
  EXPECT_TRUE(FailsWith(CreateDirectory(file_, Parents::kMustExist, Symlinks::kFollow, kNothingGuarded),
                        ErrorKind::kSystem, "busy"));
  EXPECT_TRUE(
      FailsWith(Rename(directory, directory_, Existing::kReplace, kNothingGuarded), ErrorKind::kSystem, "busy"));
  EXPECT_TRUE(FailsWith(Rename(file, file_, Existing::kKeep, kNothingGuarded), ErrorKind::kSystem, "busy"));
  EXPECT_TRUE(FailsWith(Copy(file, directory_, Depth::kSingle, kNothingGuarded), ErrorKind::kSystem, "busy"));
  EXPECT_TRUE(
      FailsWith(Copy(MakeLink("link", "file"), file_, Depth::kSingle, kNothingGuarded), ErrorKind::kSystem, "busy"));
  EXPECT_TRUE(AreThere());
}

TEST_P(PlaceholderViewTest, AnEmptyDirectoryAndAnEmptyFileOfTheUsersAreSeen) {
  const std::string directory = MakeDirectory("tree/empty", 0555), file = MakeFile("tree/empty-file", "", 0444);
  EXPECT_TRUE(Succeeds(GetMetadata(directory, Symlinks::kFollow)));
  EXPECT_TRUE(Succeeds(GetMetadata(file, Symlinks::kFollow)));
  const auto listed = ReadDirectory(Path("tree"), 9);
  ASSERT_TRUE(Succeeds(listed));
  EXPECT_EQ(listed->size(), 2u);
}

}  // namespace
}  // namespace holdfast::files
