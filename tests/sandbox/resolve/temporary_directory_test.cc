#include "sandbox/resolve/temporary_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/scratch_dir.h"

namespace holdfast::sandbox {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr uid_t kNobody = 65534;

std::string Resolved(const std::string& wanted, const std::string& of_server = "") {
  const auto directory = ResolveTemporaryDirectory({.wanted = wanted, .of_server = of_server});
  return directory ? *directory : "nowhere: " + directory.error().message;
}

// The scratch directories of these tests are in /tmp, and belong to the user.
TEST(TemporaryDirectoryTest, TakesTheUsersDirectoriesInTheUsualPlaces) {
  const support::ScratchDir own;
  const std::string real = fs::canonical(own.path());
  EXPECT_EQ(Resolved(own.path()), real);
  fs::create_directory(own.path() + "/deep");
  EXPECT_EQ(Resolved(own.path() + "/deep"), real + "/deep");
  EXPECT_EQ(Resolved("/tmp"), fs::canonical("/tmp"));
  EXPECT_EQ(Resolved("/var/tmp"), fs::canonical("/var/tmp"));
}

// A command with TMPDIR=~/.ssh could otherwise write the keys, because the policy makes the temporary directory
// writable.
TEST(TemporaryDirectoryTest, TakesNoOtherDirectory) {
  for (const char* wanted : {"/", "/etc", "/root", "/home", "/usr/bin", "/tmp/..", "/var", "/run/user"}) {
    EXPECT_THAT(Resolved(wanted), HasSubstr("nowhere")) << wanted;
  }
}

TEST(TemporaryDirectoryTest, GoesByWhereLinksLead) {
  const support::ScratchDir own;
  fs::create_symlink("/etc", own.path() + "/link");
  EXPECT_THAT(Resolved(own.path() + "/link"), HasSubstr("nowhere"));
  EXPECT_THAT(Resolved(own.path() + "/link/ssh"), HasSubstr("nowhere"));
}

// A command replaces a TMPDIR in its workspace by a link to another directory of the user below /tmp or /run/user.
// Without the check the next command under the same policy could write there.
TEST(TemporaryDirectoryTest, TakesNoLinkThatACommandCouldHaveMade) {
  const support::ScratchDir workspace, other;
  fs::create_directory_symlink(other.path(), workspace.path() + "/tmp");
  EXPECT_THAT(Resolved(workspace.path() + "/tmp"), HasSubstr("crosses the link"));
  EXPECT_EQ(Resolved(other.path()), fs::canonical(other.path()));
}

TEST(TemporaryDirectoryTest, TakesOnlyDirectoriesThatAreThere) {
  const support::ScratchDir own;
  EXPECT_THAT(Resolved(own.path() + "/missing"), HasSubstr("does not exist"));
  EXPECT_THAT(Resolved(own.Write("file", "")), HasSubstr("is not a directory"));
  EXPECT_THAT(Resolved("tmp"), HasSubstr("is not an absolute path"));
  EXPECT_THAT(Resolved(""), HasSubstr("is not an absolute path"));
}

TEST(TemporaryDirectoryTest, TakesNoDirectoryOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a directory of another user";
  const support::ScratchDir other;
  ASSERT_EQ(::chown(other.path().c_str(), kNobody, kNobody), 0);
  EXPECT_THAT(Resolved(other.path()), HasSubstr("belongs to another user"));
}

// The operator has chosen the server's own TMPDIR, so it is trusted.
TEST(TemporaryDirectoryTest, TakesWhatIsInTheServersOwn) {
  std::string elsewhere = "/var/holdfast-test-XXXXXX";
  if (::mkdtemp(elsewhere.data()) == nullptr) GTEST_SKIP() << "/var cannot be written";
  fs::create_directory(elsewhere + "/inner");
  EXPECT_EQ(Resolved(elsewhere, elsewhere), elsewhere);
  EXPECT_EQ(Resolved(elsewhere + "/inner", elsewhere), elsewhere + "/inner");
  EXPECT_THAT(Resolved(elsewhere), HasSubstr("is not below"));
  EXPECT_THAT(Resolved(elsewhere, "/"), HasSubstr("is not below"));
  EXPECT_THAT(Resolved("/etc", elsewhere), HasSubstr("is not below"));
  fs::remove_all(elsewhere);
}

TEST(TemporaryDirectoryTest, KnowsWhetherAPolicyAsksForIt) {
  Policy policy;
  EXPECT_FALSE(NamesTemporaryDirectory(policy));
  policy.files.emplace();
  policy.files->entries = {{Place{PlaceKind::kSlashTmp}, Access::kWrite}};
  EXPECT_FALSE(NamesTemporaryDirectory(policy));
  policy.files->entries.push_back({Place{PlaceKind::kTmpDir}, Access::kWrite});
  EXPECT_TRUE(NamesTemporaryDirectory(policy));
}

}  // namespace
}  // namespace holdfast::sandbox
