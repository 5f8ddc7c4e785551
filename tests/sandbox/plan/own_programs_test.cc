#include "sandbox/plan/own_programs.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/resolve/resolution.h"
#include "support/scratch_dir.h"

namespace holdfast::sandbox {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// The scratch directory has the layout that `make install` makes.
class OwnProgramsTest : public testing::Test {
 protected:
  OwnProgramsTest() {
    for (const char* name : {"bin/holdfast", "bin/holdfast-linux-sandbox", "bin/holdfast-resources/bwrap",
                             "libexec/holdfast/path/apply_patch"}) {
      dir_.Write(name, "", 0755);
    }
    fs::create_directory(dir_.path() + "/work");
  }

  // Returns the error message, or an empty text when the rules do not open the programs.
  std::string Refusal(std::vector<Rule> rules) const {
    rules.push_back({.path = "/", .access = Access::kRead});
    Resolution resolution;
    resolution.rules = std::move(rules);
    const auto map = RuleMap::Create(resolution);
    if (!map) return "no map: " + map.error().message;
    const auto checked = CheckOwnPrograms(*map, In("bin"));
    return checked ? "" : checked.error().message;
  }

  std::string In(const std::string& name) const { return fs::canonical(dir_.path()).string() + "/" + name; }

  support::ScratchDir dir_;
};

// A command in a checkout of holdfast could replace the program that builds the next sandbox.
TEST_F(OwnProgramsTest, RefusesRulesThatOpenThem) {
  for (const char* opened : {"", "bin", "bin/holdfast", "bin/holdfast-linux-sandbox", "bin/holdfast-resources",
                             "bin/holdfast-resources/bwrap"}) {
    std::string path = In(opened);
    if (path.ends_with('/')) path.pop_back();
    EXPECT_THAT(Refusal({{.path = path, .access = Access::kWrite}}), HasSubstr("holdfast's own programs")) << opened;
  }
}

// A sandboxed command could put its own program there, and a command without a sandbox would find it first in its PATH.
TEST_F(OwnProgramsTest, RefusesRulesThatOpenWhatCommandsFindFirst) {
  for (const char* opened :
       {"libexec", "libexec/holdfast", "libexec/holdfast/path", "libexec/holdfast/path/apply_patch"}) {
    EXPECT_THAT(Refusal({{.path = In(opened), .access = Access::kWrite}}), HasSubstr("holdfast's own programs"))
        << opened;
  }
  EXPECT_EQ(Refusal({{.path = In("libexec/other"), .access = Access::kWrite}}), "");
}

// A command could install its own programs for the next server where ours are not installed.
TEST_F(OwnProgramsTest, RefusesRulesThatOpenThePlaceOfWhatCommandsFindFirst) {
  for (const char* directory : {"libexec/holdfast/path", "libexec/holdfast", "libexec"}) {
    fs::remove_all(In(directory));
    fs::create_directory(In(directory));
    EXPECT_THAT(Refusal({{.path = In(directory), .access = Access::kWrite}}), HasSubstr("holdfast's own programs"))
        << directory;
  }
}

TEST_F(OwnProgramsTest, HasThemBesideTheServersOwnDirectory) {
  EXPECT_EQ(CommandPathBeside("/usr/bin"), "/usr/libexec/holdfast/path");
  EXPECT_EQ(CommandPathBeside("/bin"), "/libexec/holdfast/path");
}

TEST_F(OwnProgramsTest, TakesRulesThatLeaveThemAlone) {
  EXPECT_EQ(Refusal({}), "");
  EXPECT_EQ(Refusal({{.path = In("work"), .access = Access::kWrite}}), "");
  EXPECT_EQ(Refusal({{.path = In("bin/other"), .access = Access::kWrite}}), "");
  EXPECT_EQ(Refusal({{.path = In("work"), .access = Access::kWrite}, {.path = In("bin"), .access = Access::kRead}}),
            "");
}

TEST_F(OwnProgramsTest, GoesByWhereLinksLead) {
  fs::create_directory_symlink(In("bin"), dir_.path() + "/link");
  EXPECT_THAT(Refusal({{.path = In("link"), .access = Access::kWrite}}), HasSubstr("holdfast's own programs"));
}

// A command that may write everything can replace any program, so the check would not help.
TEST_F(OwnProgramsTest, SaysNothingOfAPolicyThatOpensEverything) {
  Resolution resolution;
  resolution.rules = {{.path = "/", .access = Access::kWrite}};
  const auto map = RuleMap::Create(resolution);
  ASSERT_TRUE(map);
  EXPECT_TRUE(CheckOwnPrograms(*map, In("bin")));
}

// The directory of the programs belongs to root, but the directory above it does not: the command could rename the
// former and make its own.
TEST_F(OwnProgramsTest, RefusesRulesThatOpenTheDirectoryAbove) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can act as another user";
  constexpr uid_t nobody = 65534;
  ASSERT_EQ(::chown(dir_.path().c_str(), nobody, nobody), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgid(nobody) < 0 || ::setuid(nobody) < 0) ::_exit(2);
    std::string above = In("");
    above.pop_back();
    ::_exit(Refusal({{.path = above, .access = Access::kWrite}}).contains("own programs") ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// The directories of the system belong to root: the command of a user cannot write them, whatever its policy grants.
TEST_F(OwnProgramsTest, LeavesAUserWhatTheUserCannotWriteAnyway) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can act as another user";
  ASSERT_EQ(::chmod(dir_.path().c_str(), 0755), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t nobody = 65534;
    if (::setgid(nobody) < 0 || ::setuid(nobody) < 0) ::_exit(2);
    ::_exit(Refusal({{.path = In("bin"), .access = Access::kWrite}}).empty() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace holdfast::sandbox
