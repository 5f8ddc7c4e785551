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
using ::testing::Not;

// A server that this user has not started as a private one listens where the private server should. Without
// $HOLDFAST_SERVER, commands find it there.
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

// A command in a sandbox with a network has found a way to listen where the private server should. It would get the
// arguments and the environment of the next command.
class SandboxedServerTest : public CommandFixture {
 protected:
  SandboxedServerTest() {
    url_.clear();
    EXPECT_EQ(::mkdir(Path("holdfast").c_str(), 0700), 0);
  }
};

TEST_F(SandboxedServerTest, IsToldNothing) {
  support::Program sandboxed({"unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child",
                              HOLDFAST_BINARY, "exec-server", "--listen",
                              "unix://" + Path("holdfast/exec-server.sock")});
  sandboxed.AwaitOutput("unix://");
  for (const std::string line : {"ps", "kill x", "logs x"}) {
    EXPECT_THAT(Refusal("holdfast " + line, 1), HasSubstr("runs in a sandbox or a container, so nothing was sent"));
  }
  EXPECT_THAT(Refusal("holdfast run true", 125), HasSubstr("runs in a sandbox or a container, so nothing was sent"));
  // The user may name such a server.
  url_ = "unix://" + Path("holdfast/exec-server.sock");
  EXPECT_THAT(Run("holdfast ps").err, Not(HasSubstr("runs in a sandbox")));
}

}  // namespace
}  // namespace holdfast::cli
