#include "files/disk/descent.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "files/disk/storage_fixture.h"
#include "files/disk/tree_fixture.h"

namespace holdfast::files {
namespace {

class DescentTest : public StorageTest {
 protected:
  static constexpr int kDeep = 3 * static_cast<int>(Descent::kMaxOpen);

  Descent From(const std::string& path) {
    auto top = sys::OpenAt(AT_FDCWD, path, O_PATH | O_DIRECTORY, sys::Links::kFollow);
    EXPECT_TRUE(Succeeds(top));
    return Descent(*std::move(top), path);
  }

  static ino_t InodeOf(int fd) {
    struct stat status = {};
    EXPECT_EQ(::fstat(fd, &status), 0);
    return status.st_ino;
  }
};
HOLDFAST_ON_EACH_STORAGE(DescentTest);

TEST_P(DescentTest, ComesBackTheWayItWent) {
  MakeDeepTree(Path("tree"), kDeep);
  Descent descent = From(Path("tree"));
  std::vector<ino_t> passed;
  for (int i = 0; i < kDeep; ++i) {
    passed.push_back(InodeOf(descent.fd()));
    ASSERT_EQ(descent.Enter("d"), 0);
  }
  EXPECT_EQ(descent.depth(), static_cast<size_t>(kDeep));
  for (; !passed.empty(); passed.pop_back()) {
    ASSERT_TRUE(Succeeds(descent.Leave()));
    ASSERT_EQ(InodeOf(descent.fd()), passed.back());
  }
  EXPECT_EQ(descent.depth(), 0u);
}

TEST_P(DescentTest, HoldsFewDescriptorsHoweverDeep) {
  MakeDeepTree(Path("tree"), kDeep);
  const size_t before = OpenDescriptors();
  Descent descent = From(Path("tree"));
  for (int i = 0; i < kDeep; ++i) ASSERT_EQ(descent.Enter("d"), 0);
  EXPECT_EQ(OpenDescriptors(), before + Descent::kMaxOpen);
  while (descent.depth() > 0) ASSERT_TRUE(Succeeds(descent.Leave()));
  EXPECT_EQ(OpenDescriptors(), before + 1);
}

TEST_P(DescentTest, EntersNothingButDirectories) {
  MakeDirectory("real");
  MakeLink("link", "real");
  MakeFile("file");
  MakeFifo("fifo");
  Descent descent = From(Path());
  EXPECT_EQ(descent.Enter("link"), -ELOOP);
  EXPECT_EQ(descent.Enter("file"), -ENOTDIR);
  EXPECT_EQ(descent.Enter("fifo"), -ENOTDIR);
  EXPECT_EQ(descent.Enter("missing"), -ENOENT);
  EXPECT_EQ(descent.depth(), 0u);
  EXPECT_EQ(descent.Enter("real"), 0);
}

TEST_P(DescentTest, DoesNotFollowADirectoryThatIsMovedAway) {
  MakeDeepTree(Path("tree"), kDeep);
  MakeDirectory("elsewhere");
  Descent descent = From(Path("tree"));
  for (int i = 0; i < kDeep; ++i) ASSERT_EQ(descent.Enter("d"), 0);
  ASSERT_EQ(::rename(Path("tree/d/d/d/d/d").c_str(), Path("elsewhere/d").c_str()), 0);

  std::optional<Error> error;
  while (!error && descent.depth() > 0) {
    if (auto left = descent.Leave(); !left) error = left.error();
  }
  ASSERT_TRUE(error);
  EXPECT_EQ(descent.depth(), 5u);
  EXPECT_EQ(error->kind, ErrorKind::kSystem);
  EXPECT_TRUE(error->message.contains("moved meanwhile")) << error->message;
}

TEST_P(DescentTest, NamesWhereItIs) {
  MakeDeepTree(Path("tree"), kDeep);
  Descent descent = From(Path("tree"));
  EXPECT_EQ(descent.PathOf("x"), Path("tree/x"));
  EXPECT_EQ(descent.PathOf("."), Path("tree"));
  ASSERT_EQ(descent.Enter("d"), 0);
  ASSERT_EQ(descent.Enter("d"), 0);
  EXPECT_EQ(descent.PathOf("x"), Path("tree/d/d/x"));
  EXPECT_EQ(descent.name(), "d");
  EXPECT_EQ(From("/").PathOf("x"), "/x");
  EXPECT_EQ(From("/").PathOf("."), "/");
}

TEST_P(DescentTest, AbridgesALongPath) {
  MakeDeepTree(Path("tree"), kDeep);
  Descent descent = From(Path("tree"));
  for (int i = 0; i < kDeep; ++i) ASSERT_EQ(descent.Enter("d"), 0);
  const std::string abridged = descent.PathOf("last");
  EXPECT_TRUE(abridged.starts_with(Path("tree/.../d/d"))) << abridged;
  EXPECT_TRUE(abridged.ends_with("/d/d/last")) << abridged;
  EXPECT_LT(abridged.size(), Path("tree").size() + 100);
}

}  // namespace
}  // namespace holdfast::files
