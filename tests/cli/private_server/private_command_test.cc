// Tests of commands that look for the private server of their user.
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_fixture.h"

namespace holdfast::cli {
namespace {

using ::testing::HasSubstr;

// A server of another user listens where the private server should. Without $HOLDFAST_SERVER, commands find it there.
class ForeignServerTest : public CommandFixture {
 protected:
  ForeignServerTest() {
    url_.clear();
    EXPECT_EQ(::mkdir(Path("holdfast").c_str(), 0700), 0);
    server_.emplace_back(support::ServerProcess::Start({"--listen", "unix://" + Path("holdfast/exec-server.sock")}));
  }
};

TEST_F(ForeignServerTest, IsNotUsedIfOthersCanUseItsDirectory) {
  EXPECT_EQ(Output("holdfast ps -q"), "");
  ASSERT_EQ(::chmod(Path("holdfast").c_str(), 0777), 0);
  EXPECT_THAT(Refusal("holdfast ps", 1), HasSubstr("is open to other users"));
  EXPECT_THAT(Refusal("holdfast send x y", 1), HasSubstr("is open to other users"));
  EXPECT_THAT(Refusal("holdfast kill --end x", 1), HasSubstr("is open to other users"));
  EXPECT_THAT(Refusal("holdfast run true", 125), HasSubstr("is open to other users"));
}

TEST_F(ForeignServerTest, IsNotUsedThroughALink) {
  Output("mv holdfast elsewhere; ln -s elsewhere holdfast");
  EXPECT_THAT(Refusal("holdfast ps", 1), HasSubstr("is a link or a file"));
}

TEST_F(ForeignServerTest, IsNotUsedIfItsDirectoryBelongsToAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(::chown(Path("holdfast").c_str(), 12345, 12345), 0);
  EXPECT_THAT(Refusal("holdfast ps", 1), HasSubstr("belongs to another user"));
  ASSERT_EQ(::chown(Path("holdfast").c_str(), 0, 0), 0);
}

}  // namespace
}  // namespace holdfast::cli
