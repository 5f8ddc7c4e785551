#include "files/disk/guarded_names.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "files/disk/copy.h"
#include "files/disk/directory.h"
#include "files/disk/file.h"
#include "files/disk/remove.h"
#include "files/disk/rename.h"
#include "files/disk/storage_fixture.h"
#include "files/disk/write_file.h"
#include "sys/placeholder.h"

namespace holdfast::files {
namespace {

constexpr char kReadOnly[] = "Read-only file system";

class GuardedNamesTest : public StorageTest {
 protected:
  void SetUp() override {
    MakeDirectory("root");
    MakeDirectory("root/below");
    auto absent = GuardedNames::Open(std::vector{Path("root/.git"), Path("root/below/.env")}, {});
    ASSERT_TRUE(Succeeds(absent));
    guarded_ = *std::move(absent);
  }

  Result<> Write(const std::string& path, Replacement replacement = Replacement::kInPlace) const {
    return WriteFile(path, Bytes("text"), {.replacement = replacement, .expected_sha256 = {}}, guarded_);
  }
  Result<> Make(const std::string& path, Parents parents = Parents::kCreate) const {
    return CreateDirectory(path, parents, Symlinks::kFollow, guarded_);
  }

  GuardedNames guarded_;
};
HOLDFAST_ON_EACH_STORAGE(GuardedNamesTest);

TEST_P(GuardedNamesTest, NothingIsMadeUnderSuchAName) {
  MakeDirectory("tree");
  MakeFile("file", "text");
  MakeLink("link", "file");
  for (const std::string& name : {Path("root/.git"), Path("root/below/.env"), Path("root/below/../.git")}) {
    EXPECT_TRUE(FailsWith(Write(name), ErrorKind::kSystem, kReadOnly));
    EXPECT_TRUE(FailsWith(Write(name, Replacement::kAtomic), ErrorKind::kSystem, kReadOnly));
    EXPECT_TRUE(FailsWith(File::OpenForWriting(name, Symlinks::kRefuse, guarded_), ErrorKind::kSystem, kReadOnly));
    EXPECT_TRUE(FailsWith(Make(name, Parents::kMustExist), ErrorKind::kSystem, kReadOnly));
    EXPECT_TRUE(FailsWith(Make(name + "/hooks"), ErrorKind::kSystem, kReadOnly));
    EXPECT_TRUE(FailsWith(Copy(Path("tree"), name, Depth::kTree, guarded_), ErrorKind::kSystem, kReadOnly));
    EXPECT_TRUE(FailsWith(Copy(Path("tree"), name + "/a/b", Depth::kTree, guarded_), ErrorKind::kSystem, kReadOnly));
    EXPECT_TRUE(FailsWith(Copy(Path("file"), name, Depth::kSingle, guarded_), ErrorKind::kSystem, kReadOnly));
    EXPECT_TRUE(FailsWith(Copy(Path("link"), name, Depth::kSingle, guarded_), ErrorKind::kSystem, kReadOnly));
    EXPECT_TRUE(FailsWith(Rename(Path("tree"), name, Existing::kReplace, guarded_), ErrorKind::kSystem, kReadOnly));
    EXPECT_TRUE(FailsWith(Rename(Path("file"), name, Existing::kKeep, guarded_), ErrorKind::kSystem, kReadOnly));
  }
  EXPECT_TRUE(guarded_.AreAsPlanned());
}

TEST_P(GuardedNamesTest, TheSameActsSucceedElsewhere) {
  MakeDirectory("tree");
  MakeFile("file", "text");
  MakeLink("link", "file");
  EXPECT_TRUE(Succeeds(Write(Path("root/below/.git"))));
  EXPECT_TRUE(Succeeds(Write(Path("root/.env"), Replacement::kAtomic)));
  EXPECT_TRUE(Succeeds(Make(Path("root/new"), Parents::kMustExist)));
  EXPECT_TRUE(Succeeds(Make(Path("root/a/b/.git"))));
  EXPECT_TRUE(Succeeds(Copy(Path("tree"), Path("root/c/d"), Depth::kTree, guarded_)));
  EXPECT_TRUE(Succeeds(Copy(Path("file"), Path("root/copy"), Depth::kSingle, guarded_)));
  EXPECT_TRUE(Succeeds(Copy(Path("link"), Path("root/copied-link"), Depth::kSingle, guarded_)));
  EXPECT_TRUE(Succeeds(Rename(Path("tree"), Path("root/tree"), Existing::kReplace, guarded_)));
  EXPECT_TRUE(Succeeds(Remove(Path("root/a"), {}, guarded_)));
}

TEST_P(GuardedNamesTest, NoLinkLeadsToSuchAName) {
  MakeLink("to-name", "root/.git");
  MakeLink("to-root", "root");
  MakeFile("file", "text");
  EXPECT_TRUE(FailsWith(Write(Path("to-name")), ErrorKind::kSystem, kReadOnly));
  EXPECT_TRUE(FailsWith(Write(Path("to-root/.git")), ErrorKind::kSystem, kReadOnly));
  EXPECT_TRUE(FailsWith(Make(Path("to-root/.git/hooks")), ErrorKind::kSystem, kReadOnly));
  EXPECT_TRUE(FailsWith(Copy(Path("file"), Path("to-name"), Depth::kSingle, guarded_), ErrorKind::kSystem, kReadOnly));
  EXPECT_TRUE(guarded_.AreAsPlanned());
}

TEST_P(GuardedNamesTest, ATreeThatIsCopiedMakesNoSuchName) {
  MakeDirectory("tree");
  MakeDirectory("tree/.git");
  MakeFile("tree/.git/config", "text");
  EXPECT_TRUE(FailsWith(Copy(Path("tree"), Path("root"), Depth::kTree, guarded_), ErrorKind::kSystem, kReadOnly));
  EXPECT_TRUE(guarded_.AreAsPlanned());
}

TEST_P(GuardedNamesTest, WhatComesToExistIsNotCopied) {
  MakeFile("root/below/.env", "secret");
  MakeFile("root/below/file", "text");
  EXPECT_FALSE(Copy(Path("root/below/.env"), Path("copy"), Depth::kSingle, guarded_));
  EXPECT_FALSE(Copy(Path("root/below"), Path("copies"), Depth::kTree, guarded_));
  EXPECT_FALSE(Copy(Path("root"), Path("all"), Depth::kTree, guarded_));
  for (const char* copy : {"copy", "copies/.env", "all/below/.env"}) EXPECT_EQ(ReadAll(Path(copy)), "") << copy;
}

TEST_P(GuardedNamesTest, ANameThatHasComeToExistEndsEveryChange) {
  MakeDirectory("root/.git");
  MakeFile("root/.git/config", "text");
  EXPECT_FALSE(guarded_.AreAsPlanned());
  EXPECT_TRUE(FailsWith(Write(Path("root/.git/config")), ErrorKind::kSystem, kReadOnly));
  EXPECT_TRUE(FailsWith(Write(Path("root/file")), ErrorKind::kSystem, kReadOnly));
  EXPECT_TRUE(FailsWith(Remove(Path("root/.git"), {}, guarded_), ErrorKind::kSystem, kReadOnly));
  EXPECT_TRUE(FailsWith(Remove(Path("root/.git/config"), {}, guarded_), ErrorKind::kSystem, kReadOnly));
  EXPECT_TRUE(
      FailsWith(Rename(Path("root/.git"), Path("moved"), Existing::kReplace, guarded_), ErrorKind::kSystem, kReadOnly));
  EXPECT_EQ(ReadAll(Path("root/.git/config")), "text");
}

TEST_P(GuardedNamesTest, ThePlaceholderOfAnotherSandboxIsAsGoodAsMissingButStays) {
  MakeDirectory("root/.git", sys::kPlaceholderDirectoryMode);
  EXPECT_TRUE(guarded_.AreAsPlanned());
  EXPECT_TRUE(FailsWith(Write(Path("root/.git/config")), ErrorKind::kSystem, kReadOnly));
  EXPECT_TRUE(FailsWith(Make(Path("root/.git")), ErrorKind::kSystem, kReadOnly));
  EXPECT_TRUE(FailsWith(Make(Path("root/.git/hooks")), ErrorKind::kSystem, kReadOnly));
  EXPECT_TRUE(FailsWith(Remove(Path("root/.git"), {}, guarded_), ErrorKind::kSystem, kReadOnly));
  EXPECT_TRUE(FailsWith(Remove(Path("root"), {}, guarded_), ErrorKind::kSystem, kReadOnly));
  EXPECT_TRUE(sys::IsPlaceholderAt(AT_FDCWD, Path("root/.git")));
  EXPECT_TRUE(Succeeds(Write(Path("file"))));
}

TEST_P(GuardedNamesTest, ASpellingIsRefusedBeforeAnythingIsLookedAt) {
  EXPECT_EQ(guarded_.CheckSpelling(Path("root/.git")), -EROFS);
  EXPECT_EQ(guarded_.CheckSpelling(Path("root/.git/a/b")), -EROFS);
  EXPECT_EQ(guarded_.CheckSpelling(Path("root/.gitignore")), 0);
  EXPECT_EQ(guarded_.CheckSpelling(Path("root")), 0);
}

TEST_P(GuardedNamesTest, ADirectoryThatIsALinkOrMissingIsRefused) {
  MakeLink("link", "root");
  EXPECT_FALSE(GuardedNames::Open(std::vector{Path("link/.git")}, {}));
  EXPECT_FALSE(GuardedNames::Open(std::vector{Path("gone/.git")}, {}));
}

TEST_P(GuardedNamesTest, WithoutNamesEverythingIsAllowed) {
  const GuardedNames none;
  EXPECT_TRUE(none.empty());
  EXPECT_TRUE(none.AreAsPlanned());
  EXPECT_EQ(none.CheckChange(AT_FDCWD, ".git"), 0);
  EXPECT_TRUE(Succeeds(WriteFile(Path("root/.git"), Bytes("text"), {}, none)));
}

}  // namespace
}  // namespace holdfast::files
