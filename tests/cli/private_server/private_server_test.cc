#include "cli/private_server/private_server.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "cli/private_server/runtime_dir.h"
#include "support/eventually.h"
#include "support/proc.h"
#include "support/scratch_dir.h"

namespace holdfast::cli {
namespace {

using ::testing::HasSubstr;

class PrivateServerTest : public testing::Test {
 protected:
  ~PrivateServerTest() override {
    for (pid_t server; (server = Server()) > 0;) {
      ::kill(server, SIGTERM);
      EXPECT_TRUE(support::Eventually([&] { return Server() != server; }));
    }
  }

  OwnedFd Connect() const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    directory().socket().copy(address.sun_path, sizeof address.sun_path - 1);
    OwnedFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) < 0) socket.Reset();
    return socket;
  }

  // Returns the pid of the server that listens; 0 if there is none.
  pid_t Server() const {
    const OwnedFd socket = Connect();
    ucred credentials{};
    socklen_t size = sizeof credentials;
    if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) < 0) return 0;
    return credentials.pid;
  }

  RuntimeDir directory() const { return {scratch_.path() + "/holdfast"}; }
  PrivateServerOptions Options() const { return {.directory = directory(), .program = HOLDFAST_BINARY}; }

  support::ScratchDir scratch_;
};

TEST_F(PrivateServerTest, IsStartedOnceAndStays) {
  EXPECT_FALSE(IsPrivateServerUp(directory()));
  const auto first = EnsurePrivateServer(Options());
  ASSERT_TRUE(first.has_value()) << first.error().message;
  EXPECT_TRUE(IsPrivateServerUp(directory()));
  const pid_t server = Server();
  EXPECT_GT(server, 0);
  EXPECT_TRUE(EnsurePrivateServer(Options()).has_value());
  EXPECT_EQ(Server(), server);
}

TEST_F(PrivateServerTest, TakesNoPartInTheSessionOfTheProgramThatStartsIt) {
  ASSERT_TRUE(EnsurePrivateServer(Options()).has_value());
  EXPECT_NE(::getsid(Server()), ::getsid(0));
  EXPECT_NE(::getpgid(Server()), ::getpgid(0));
}

TEST_F(PrivateServerTest, ManyCommandsAtOnceStartOneServer) {
  std::vector<std::thread> commands;
  std::vector<int> failures(8);
  std::vector<pid_t> servers(8);
  for (size_t i = 0; i < failures.size(); ++i) {
    commands.emplace_back([&, i] {
      failures[i] = EnsurePrivateServer(Options()) ? 0 : 1;
      servers[i] = Server();
    });
  }
  for (std::thread& command : commands) command.join();
  EXPECT_THAT(failures, testing::Each(0));
  EXPECT_THAT(servers, testing::Each(Server()));
}

TEST_F(PrivateServerTest, ReplacesTheSocketOfAServerThatWasKilled) {
  ASSERT_TRUE(EnsurePrivateServer(Options()).has_value());
  const pid_t killed = Server();
  ::kill(killed, SIGKILL);
  ASSERT_TRUE(support::Eventually([&] { return Server() == 0; }));
  EXPECT_EQ(::access(directory().socket().c_str(), F_OK), 0);
  ASSERT_TRUE(EnsurePrivateServer(Options()).has_value());
  EXPECT_GT(Server(), 0);
  EXPECT_NE(Server(), killed);
}

TEST_F(PrivateServerTest, TellsWhyAServerDoesNotStart) {
  ASSERT_EQ(::mkdir(directory().path.c_str(), 0700), 0);
  std::ofstream(directory().socket()) << "not a socket";
  const auto started = EnsurePrivateServer(Options());
  ASSERT_FALSE(started.has_value());
  EXPECT_THAT(started.error().message, HasSubstr("the path exists and is not a socket"));
  EXPECT_THAT(started.error().message, HasSubstr("its log is " + directory().log()));
}

TEST_F(PrivateServerTest, TellsThatTheProgramIsMissing) {
  PrivateServerOptions options = Options();
  options.program = scratch_.path() + "/missing";
  const auto started = EnsurePrivateServer(options);
  ASSERT_FALSE(started.has_value());
  EXPECT_THAT(started.error().message, HasSubstr("cannot start " + options.program));
}

TEST_F(PrivateServerTest, RefusesADirectoryThatOthersCouldHaveMade) {
  ASSERT_TRUE(PrepareRuntimeDir(directory()).has_value());
  ASSERT_EQ(::chmod(directory().path.c_str(), 0770), 0);
  EXPECT_THAT(EnsurePrivateServer(Options()).error().message, HasSubstr("is open to other users"));

  const RuntimeDir link{scratch_.path() + "/link"};
  ASSERT_EQ(::chmod(directory().path.c_str(), 0700), 0);
  ASSERT_EQ(::symlink(directory().path.c_str(), link.path.c_str()), 0);
  EXPECT_THAT(PrepareRuntimeDir(link).error().message, HasSubstr("is a link or a file"));

  if (::geteuid() != 0) return;  // only root can give files away
  ASSERT_EQ(::chown(directory().path.c_str(), 12345, 12345), 0);
  EXPECT_THAT(PrepareRuntimeDir(directory()).error().message, HasSubstr("belongs to another user"));
  ASSERT_EQ(::chown(directory().path.c_str(), 0, 0), 0);
}

TEST(RuntimeDirTest, IsInXdgRuntimeDirOrInTmp) {
  ::setenv("XDG_RUNTIME_DIR", "/run/user/1", 1);
  EXPECT_EQ(FindRuntimeDir().path, "/run/user/1/holdfast");
  EXPECT_EQ(FindRuntimeDir().url(), "unix:///run/user/1/holdfast/exec-server.sock");
  ::setenv("XDG_RUNTIME_DIR", "relative", 1);
  EXPECT_EQ(FindRuntimeDir().path, "/tmp/holdfast-" + std::to_string(::geteuid()));
  ::unsetenv("XDG_RUNTIME_DIR");
  EXPECT_EQ(FindRuntimeDir().path, "/tmp/holdfast-" + std::to_string(::geteuid()));
}

}  // namespace
}  // namespace holdfast::cli
