#include "sandbox/resolve/given_roots.h"

#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sandbox/resolve/made_links.h"
#include "support/scratch_dir.h"

namespace holdfast::sandbox {
namespace {

namespace fs = std::filesystem;

class GivenRootsTest : public testing::Test {
 protected:
  void Give(const std::vector<std::string>& roots) const { EXPECT_TRUE(GivenRoots::Add(list(), roots)); }
  bool Contain(const std::string& path) const {
    const auto given = GivenRoots::Read(list());
    EXPECT_TRUE(given) << given.error().message;
    return given && given->Contain(path);
  }
  off_t size() const { return ::lseek(list(), 0, SEEK_END); }
  int list() const { return (*list_)->get(); }
  std::string In(const std::string& name) const { return scratch_.path() + "/" + name; }

  const Result<std::shared_ptr<const OwnedFd>> list_ = GivenRoots::Make();
  support::ScratchDir scratch_;
};

TEST_F(GivenRootsTest, ContainThemselvesAndWhatIsBelow) {
  EXPECT_FALSE(Contain("/no/such/root"));
  Give({"/no/such/root", "/other one"});
  EXPECT_TRUE(Contain("/no/such/root"));
  EXPECT_TRUE(Contain("/no/such/root/a/b"));
  EXPECT_TRUE(Contain("/other one/a"));
  EXPECT_FALSE(Contain("/no/such"));
  EXPECT_FALSE(Contain("/no/such/root2"));
}

TEST_F(GivenRootsTest, KnowADirectoryThatWasRenamed) {
  fs::create_directories(In("root/deep"));
  Give({In("root")});
  fs::rename(In("root"), In("renamed"));
  EXPECT_TRUE(Contain(In("renamed/deep")));
  EXPECT_FALSE(Contain(In("neighbour")));
}

TEST_F(GivenRootsTest, NeedNoSecondEntryForOneDirectory) {
  Give({"/a"});
  const off_t before = size();
  Give({"/a", "/a/b"});
  EXPECT_EQ(size(), before);
}

TEST_F(GivenRootsTest, AreEverythingWhenTheListIsFull) {
  const std::string name(200, 'x');
  for (int i = 0; i < 2000; ++i) Give({fmt::format("/{}{}", name, i)});
  EXPECT_LE(size(), 300 << 10);
  EXPECT_TRUE(Contain("/never/given"));
}

TEST_F(GivenRootsTest, MakeLinksInThemSuspect) {
  fs::create_directory(In("root"));
  const CrossedLink inside{.path = In("root/link"), .target = ""}, beside{.path = In("link"), .target = ""};
  const CrossedLink of_root{.path = "/usr/link", .target = ""};
  const MadeLinks links = MadeLinks::In("", list());
  // The scratch directory is in /tmp, which is open to every command.
  EXPECT_EQ(links.Suspect(beside), Result<bool>(true));
  EXPECT_EQ(MadeLinks().Suspect(beside), Result<bool>(false));
  EXPECT_EQ(links.Suspect(of_root), Result<bool>(false));
  Give({"/usr"});
  const bool is_root = ::geteuid() == 0;
  EXPECT_EQ(links.Suspect(of_root), Result<bool>(is_root)) << "no command of an ordinary user can make links there";
  EXPECT_EQ(links.Suspect(inside), Result<bool>(true));
}

}  // namespace
}  // namespace holdfast::sandbox
