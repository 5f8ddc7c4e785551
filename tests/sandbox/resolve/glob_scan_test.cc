#include "sandbox/resolve/glob_scan.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/policy/glob_parse.h"
#include "support/scratch_dir.h"

namespace holdfast::sandbox {
namespace {

using std::filesystem::create_directories;
using std::filesystem::create_symlink;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Paths = std::vector<std::string>;

class GlobScanTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return tree_.path() + "/" + name; }
  void MakeFile(const std::string& name) const { tree_.Write(name, "x"); }
  void MakeLink(const std::string& target, const std::string& name) const {
    create_directories(std::filesystem::path(Path(name)).parent_path());
    create_symlink(target, Path(name));
  }

  GlobSearch Search(const Paths& patterns) const {
    GlobSearch search{.root = tree_.path(), .globs = {}, .max_depth = {}};
    for (const std::string& pattern : patterns) {
      auto targets = ParseGlob("/", "/r/" + pattern);
      EXPECT_TRUE(targets);
      for (GlobTarget& target : *targets) {
        EXPECT_EQ(target.path, "/r");
        search.globs.push_back(*std::move(target.glob));
      }
    }
    return search;
  }

  // Returns the matches. Those below the tree are relative to it.
  Paths Matches(const GlobSearch& search, const GlobScanOptions& options = {}) const {
    auto matches = ScanGlobs({search}, options);
    EXPECT_TRUE(matches) << matches.error().message;
    if (!matches) return {};
    for (std::string& match : *matches) {
      if (match.starts_with(tree_.path() + "/")) match.erase(0, tree_.path().size() + 1);
    }
    return *matches;
  }
  Paths Matches(const std::string& pattern) const { return Matches(Search({pattern})); }

  std::string FailureOf(const GlobSearch& search, const GlobScanOptions& options) const {
    const auto matches = ScanGlobs({search}, options);
    if (matches) return "success";
    EXPECT_EQ(matches.error().kind, ErrorKind::kInvalidRequest);
    return matches.error().message;
  }

  support::ScratchDir tree_;
};

TEST_F(GlobScanTest, FindsHiddenAndIgnoredFiles) {
  for (const char* name : {"a.env", ".hidden/b.env", ".git/c.env", "deep/er/.env", "deep/env"}) MakeFile(name);
  tree_.Write(".gitignore", "*.env");
  tree_.Write(".ignore", "*");
  EXPECT_THAT(Matches("**/*.env"), ElementsAre(".git/c.env", ".hidden/b.env", "a.env", "deep/er/.env"));
}

TEST_F(GlobScanTest, DirectoriesDoNotMatch) {
  MakeFile("secrets/inside");
  EXPECT_THAT(Matches("**/secret*"), IsEmpty());
}

TEST_F(GlobScanTest, WhereALinkLeadsMatchesToo) {
  MakeFile("elsewhere/plain");
  MakeLink("elsewhere/plain", "second");
  MakeLink("second", "first.env");
  EXPECT_THAT(Matches("*.env"), ElementsAre("elsewhere/plain", "first.env"));
}

TEST_F(GlobScanTest, LinkThatLeadsNowhereMatches) {
  MakeLink("nowhere", "a.env");
  MakeLink("b.env", "b.env");
  EXPECT_THAT(Matches("*.env"), ElementsAre("a.env", "b.env"));
}

TEST_F(GlobScanTest, LinkedDirectoryIsNeitherMatchedNorEntered) {
  MakeFile("real/a.env");
  MakeLink("real", "linked");
  MakeLink("real", "real.env");
  MakeLink("..", "real/up");
  EXPECT_THAT(Matches("**/*.env"), ElementsAre("real/a.env"));
  EXPECT_THAT(Matches("link?d/*"), IsEmpty());
}

TEST_F(GlobScanTest, RootBehindALinkGivesBothNames) {
  MakeFile("real/a.env");
  MakeLink("real", "linked");
  GlobSearch search = Search({"*.env"});
  search.root = Path("linked");
  EXPECT_THAT(Matches(search), ElementsAre("linked/a.env", "real/a.env"));
}

TEST_F(GlobScanTest, RootThatIsNotThereHasNoMatches) {
  GlobSearch search = Search({"**"});
  search.root = Path("missing");
  EXPECT_THAT(Matches(search), IsEmpty());
  MakeFile("file");
  search.root = Path("file");
  EXPECT_THAT(Matches(search), IsEmpty());
}

TEST_F(GlobScanTest, DepthEndsTheSearch) {
  for (const char* name : {"1.env", "a/2.env", "a/b/3.env"}) MakeFile(name);
  GlobSearch search = Search({"**/*.env"});
  search.max_depth = 1;
  EXPECT_THAT(Matches(search), ElementsAre("1.env"));
  search.max_depth = 2;
  EXPECT_THAT(Matches(search), ElementsAre("1.env", "a/2.env"));
}

TEST_F(GlobScanTest, TooManyMatchesAreAFailure) {
  for (const char* name : {"1.env", "2.env", "3.env"}) MakeFile(name);
  GlobScanOptions options;
  options.max_matches = 3;
  EXPECT_EQ(Matches(Search({"*.env", "[12].env"}), options).size(), 3u);
  options.max_matches = 2;
  EXPECT_EQ(FailureOf(Search({"*.env"}), options), "scan " + tree_.path() + ": the patterns match more than 2 files");
}

TEST_F(GlobScanTest, DirectoryThatCannotBeReadIsAFailure) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads every directory";
  MakeFile("open/locked/a.env");
  ASSERT_EQ(::chmod(Path("open/locked").c_str(), 0), 0);
  EXPECT_EQ(FailureOf(Search({"**/*.env"}), {}), "scan " + tree_.path() + ": open open/locked: Permission denied");
  ASSERT_EQ(::chmod(Path("open/locked").c_str(), 0700), 0);
}

TEST_F(GlobScanTest, DirectoryBelowAFixedDepthIsNotRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads every directory";
  MakeFile("locked/a.env");
  MakeFile("b.env");
  ASSERT_EQ(::chmod(Path("locked").c_str(), 0), 0);
  EXPECT_THAT(Matches("*.env"), ElementsAre("b.env"));
  ASSERT_EQ(::chmod(Path("locked").c_str(), 0700), 0);
}

TEST_F(GlobScanTest, DirectoryInWhichNothingCanMatchIsNotRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads every directory";
  MakeFile("a1/deep/x.env");
  MakeFile("locked/a1/deep/x.env");
  ASSERT_EQ(::chmod(Path("locked").c_str(), 0), 0);
  EXPECT_THAT(Matches("a*/**/*.env"), ElementsAre("a1/deep/x.env"));
  ASSERT_EQ(::chmod(Path("locked").c_str(), 0700), 0);
}

TEST_F(GlobScanTest, WalkEndsAtItsTimeLimit) {
  GlobScanOptions options;
  options.time_limit = std::chrono::milliseconds(-1);
  EXPECT_THAT(FailureOf(Search({"**"}), options), HasSubstr("did not finish in time"));
}

class RandomTree {
 public:
  explicit RandomTree(unsigned seed) : random_(seed) {}

  void Grow(const std::filesystem::path& directory, int depth) {
    create_directories(directory);
    for (size_t count = 3 + random_() % 6; count > 0; --count) {
      const std::filesystem::path path = directory / Pick(kNames);
      std::error_code taken;
      switch (depth > 0 ? random_() % 6 : 2 + random_() % 4) {
        case 0:
        case 1:
          if (!std::filesystem::exists(std::filesystem::symlink_status(path))) Grow(path, depth - 1);
          break;
        case 2:
          create_symlink(Pick(kTargets), path, taken);
          break;
        case 3:
          ::mkfifo(path.c_str(), 0600);
          break;
        default:
          ::close(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600));
      }
    }
  }

  Paths Patterns() {
    Paths patterns;
    for (size_t count = 1 + random_() % 3; count > 0; --count) {
      std::string pattern = (random_() % 2 == 0 ? "**/" : "") + Pick(kWild);
      for (size_t names = random_() % 3; names > 0; --names) pattern += "/" + Pick(random_() % 2 ? kWild : kNames);
      patterns.push_back(pattern);
    }
    return patterns;
  }

  std::optional<size_t> Depth() { return random_() % 3 == 0 ? std::optional<size_t>(1 + random_() % 3) : std::nullopt; }

 private:
  std::string Pick(const Paths& from) { return from[random_() % from.size()]; }

  static inline const Paths kNames = {"a",     "b",           ".a",   "a.env",     ".env",  "x y",
                                      " end ", "\xc3\xa9",    "\xff", "new\nline", "-dash", "[ab]",
                                      "{c}",   "back\\slash", "!not", "#hash",     "*"};
  static inline const Paths kWild = {
      "**",        "*",    "?",   "*.env",     "[ab]",       "[!a]*",     "*[ab]*",      "*[",    "* ",   "??",
      "\\[ab\\]*", "*\\ ", "?a*", "{*.env,?}", "[\xc3\xa9]", "*\xc3\xa9", "[!\xc3\xa9]", "?hash", "\\!*", "*\nline"};
  static inline const Paths kTargets = {"a", "../a", "..", "a.env", "missing", ".", "../../b"};

  std::mt19937 random_;
};

// Finds the same matches in a simpler way: tries every path below the root that is not a directory, and follows the
// links among the matches.
Paths SlowMatches(const GlobSearch& search) {
  std::set<std::string> found;
  namespace fs = std::filesystem;
  for (auto entry = fs::recursive_directory_iterator(search.root); entry != fs::recursive_directory_iterator();
       ++entry) {
    const auto depth = static_cast<size_t>(entry.depth()) + 1;
    const std::string path = entry->path(), below = path.substr(search.root.size() + 1);
    const auto matches = [&](const Glob& glob) { return glob.Matches(below); };
    std::error_code nowhere;
    if (depth > search.max_depth.value_or(depth) || fs::is_directory(path, nowhere)) continue;
    if (std::ranges::none_of(search.globs, matches)) continue;
    found.insert(path);
    nowhere.clear();
    const std::string target = fs::canonical(path, nowhere);
    if (entry->is_symlink() && !nowhere) found.insert(target);
  }
  return {found.begin(), found.end()};
}

TEST_F(GlobScanTest, FindsWhatALookAtEveryPathFinds) {
  size_t found = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    RandomTree random(seed);
    const std::filesystem::path root = Path(std::to_string(seed));
    random.Grow(root, 3);
    for (int round = 0; round < 10; ++round) {
      Paths patterns = random.Patterns();
      std::erase_if(patterns, [](const std::string& pattern) { return !ParseGlob("/r", pattern); });
      GlobSearch search = Search(patterns);
      search.root = root;
      search.max_depth = random.Depth();
      const auto matches = ScanGlobs({search}, {});
      ASSERT_TRUE(matches);
      EXPECT_EQ(*matches, SlowMatches(search)) << testing::PrintToString(patterns);
      found += matches->size();
    }
  }
  EXPECT_GT(found, 500u);
}

}  // namespace
}  // namespace holdfast::sandbox
