#include "files/disk/write_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "files/disk/adversity.h"
#include "files/disk/storage_fixture.h"

namespace holdfast::files {
namespace {

class ReplaceFileTest : public StorageTest {
 protected:
  static Result<> Replace(const std::string& path, std::string_view text, const CheckCurrent& check = {}) {
    return ReplaceFile(path, Bytes(text), Symlinks::kFollow, check, kNothingGuarded);
  }
};
HOLDFAST_ON_EACH_STORAGE(ReplaceFileTest);

TEST_P(ReplaceFileTest, ShowsAReaderTheOldOrTheNewContentAndNeverAMix) {
  const std::string path = MakeFile("file", std::string(300'000, 'a'));
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int i = 0; i < 60; ++i) {
      const bool odd = i % 2 != 0;
      EXPECT_TRUE(Succeeds(Replace(path, std::string(odd ? 300'000 : 200'000, odd ? 'a' : 'b'))));
    }
    done = true;
  });
  while (!done) {
    const std::string seen = ReadAll(path);
    EXPECT_TRUE(seen == std::string(300'000, 'a') || seen == std::string(200'000, 'b')) << seen.size();
  }
  writer.join();
}

TEST_P(ReplaceFileTest, ShowsTheCheckWhatIsThereAndHeedsItsVerdict) {
  const std::string path = MakeFile("file", "old");
  std::string seen(3, '\0');
  const auto refused = Replace(path, "new", [&](const File& current) -> Result<> {
    EXPECT_EQ(current.size(), 3u);
    EXPECT_TRUE(current.ReadAt(0, std::as_writable_bytes(std::span(seen))));
    return Fail(ErrorKind::kLimit, "no");
  });
  EXPECT_TRUE(FailsWith(refused, ErrorKind::kLimit, "no"));
  EXPECT_EQ(seen, "old");
  EXPECT_EQ(ReadAll(path), "old");
  EXPECT_EQ(NamesIn(Path()), std::vector<std::string>{"file"});
}

TEST_P(ReplaceFileTest, ChecksOnlyWhatExists) {
  EXPECT_TRUE(FailsWith(Replace(Path("missing"), "new", [](const File&) { return Result<>(); }), ErrorKind::kNotFound,
                        Path("missing")));
  EXPECT_TRUE(NamesIn(Path()).empty());
}

TEST_P(ReplaceFileTest, HidesTheNewContentUntilTheEnd) {
  const std::string path = MakeFile("file", "old", 0640);
  EXPECT_TRUE(Succeeds(Replace(path, "new", [&](const File&) -> Result<> {
    const std::vector<std::string> names = NamesIn(Path());
    EXPECT_EQ(names.size(), 2u);
    for (const std::string& name : names) EXPECT_EQ(PermissionsOf(Path(name)), 0640u) << name;
    EXPECT_EQ(ReadAll(path), "old");
    return {};
  })));
  EXPECT_EQ(ReadAll(path), "new");
}

TEST_P(ReplaceFileTest, LeavesNothingBehindWhenTheRenameFails) {
  const std::string path = MakeFile("file", "old");
  const auto outcome = Replace(path, "new", [&](const File&) -> Result<> {
    EXPECT_TRUE(::unlink(path.c_str()) == 0 && ::mkdir(path.c_str(), 0755) == 0);
    return {};
  });
  EXPECT_TRUE(FailsWith(outcome, ErrorKind::kSystem, path));
  EXPECT_EQ(NamesIn(Path()), std::vector<std::string>{"file"});
}

TEST_P(ReplaceFileTest, ReplacesALinkThatComesAtTheLastMoment) {
  const std::string path = MakeFile("file", "old"), precious = MakeFile("precious", "precious");
  EXPECT_TRUE(Succeeds(Replace(path, "new", [&](const File&) -> Result<> {
    EXPECT_TRUE(::unlink(path.c_str()) == 0 && ::symlink(precious.c_str(), path.c_str()) == 0);
    return {};
  })));
  EXPECT_EQ(ReadAll(precious), "precious");
  EXPECT_TRUE(S_ISREG(StatOf(path).st_mode));
}

TEST_P(ReplaceFileTest, StaysInItsDirectoryWhenThePathLeadsElsewhere) {
  const std::string folder = MakeDirectory("folder"), elsewhere = MakeDirectory("elsewhere"), moved = Path("moved");
  MakeFile("folder/file", "old");
  MakeFile("elsewhere/file", "precious");
  EXPECT_TRUE(Succeeds(Replace(folder + "/file", "new", [&](const File&) -> Result<> {
    EXPECT_TRUE(::rename(folder.c_str(), moved.c_str()) == 0 && ::symlink(elsewhere.c_str(), folder.c_str()) == 0);
    return {};
  })));
  EXPECT_EQ(ReadAll(moved + "/file"), "new");
  EXPECT_EQ(ReadAll(elsewhere + "/file"), "precious");
  EXPECT_EQ(NamesIn(elsewhere), std::vector<std::string>{"file"});
}

TEST_P(ReplaceFileTest, RefusesADevice) {
  const std::string path = Path("device");
  if (::mknod(path.c_str(), S_IFCHR | 0666, 0x103) < 0) GTEST_SKIP() << "making a device takes root";
  EXPECT_TRUE(FailsWith(Replace(path, "x"), ErrorKind::kInvalidRequest, "not a regular file"));
  EXPECT_TRUE(S_ISCHR(StatOf(path).st_mode));
}

TEST_P(ReplaceFileTest, KeepsOwnerAndAllModeBitsAsRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "takes root";
  const std::string path = MakeFile("file", "old");
  ASSERT_TRUE(::chown(path.c_str(), 1234, 5678) == 0 && ::chmod(path.c_str(), 06751) == 0);
  EXPECT_TRUE(Succeeds(Replace(path, "new")));
  EXPECT_EQ(StatOf(path).st_uid, 1234u);
  EXPECT_EQ(StatOf(path).st_gid, 5678u);
  EXPECT_EQ(PermissionsOf(path), 06751u);
}

TEST_P(ReplaceFileTest, GivesNobodyTheBitsOfAnOwnerOrGroupThatCannotBeKept) {
  if (::geteuid() != 0) GTEST_SKIP() << "takes root to have a file of somebody else";
  struct Case {
    gid_t group;
    mode_t permissions;
  };
  for (const auto& [group, permissions] : {Case{5678, 0622}, Case{AsOrdinaryUser::kNobody, 0672}}) {
    const std::string path = MakeFile("file", "old");
    ASSERT_TRUE(::chown(path.c_str(), 1234, group) == 0 && ::chmod(path.c_str(), 06672) == 0);
    {
      const AsOrdinaryUser ordinary;
      EXPECT_TRUE(Succeeds(Replace(path, "new")));
    }
    EXPECT_EQ(StatOf(path).st_uid, AsOrdinaryUser::kNobody);
    EXPECT_EQ(StatOf(path).st_gid, AsOrdinaryUser::kNobody);
    EXPECT_EQ(PermissionsOf(path), permissions);
    ::unlink(path.c_str());
  }
}

TEST_P(ReplaceFileTest, WorksInADirectoryThatMayNotBeRead) {
  const std::string folder = MakeDirectory("folder", 0333);
  {
    const AsOrdinaryUser ordinary;
    EXPECT_TRUE(Succeeds(Replace(folder + "/file", "new")));
  }
  ASSERT_EQ(::chmod(folder.c_str(), 0755), 0);
  EXPECT_EQ(NamesIn(folder), std::vector<std::string>{"file"});
}

TEST_P(ReplaceFileTest, DoesNotFollowALinkThatSomebodyElseLeftInASharedDirectory) {
  if (::geteuid() != 0) GTEST_SKIP() << "takes root to have a link of somebody else";
  MakeDirectory("shared", 01777);
  const std::string target = MakeFile("target", "old"), link = MakeLink("shared/link", target);
  EXPECT_TRUE(Succeeds(Replace(link, "new")));
  ASSERT_EQ(::lchown(link.c_str(), AsOrdinaryUser::kNobody, AsOrdinaryUser::kNobody), 0);
  EXPECT_TRUE(FailsWith(Replace(link, "stolen"), ErrorKind::kPermissionDenied, link));
  EXPECT_EQ(ReadAll(target), "new");
  ASSERT_EQ(::chmod(Path("shared").c_str(), 0777), 0);
  EXPECT_TRUE(Succeeds(Replace(link, "newer")));
}

}  // namespace
}  // namespace holdfast::files
