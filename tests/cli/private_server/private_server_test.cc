#include "cli/private_server/private_server.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "runtime_dir/runtime_dir.h"
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

  std::string FailureOfStart() const {
    const auto started = EnsurePrivateServer(Options());
    return started ? "no failure" : started.error().message;
  }

  RuntimeDir directory() const { return {scratch_.path() + "/holdfast"}; }
  PrivateServerOptions Options() const { return {.directory = directory(), .program = HOLDFAST_BINARY}; }

  support::ScratchDir scratch_;
};

TEST_F(PrivateServerTest, IsStartedOnceAndStays) {
  EXPECT_EQ(Server(), 0);
  const auto first = EnsurePrivateServer(Options());
  ASSERT_TRUE(first.has_value()) << first.error().message;
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

// A command that could write the directory has left something in the place of a file. None of it may be waited for.
TEST_F(PrivateServerTest, RefusesALockAndALogThatAreNoRegularFiles) {
  ASSERT_EQ(::mkdir(directory().path.c_str(), 0700), 0);
  for (const std::string& path : {directory().lock(), directory().log()}) {
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    EXPECT_THAT(FailureOfStart(), HasSubstr(path + " is not a regular file; remove it"));
    std::filesystem::remove(path);
    ASSERT_EQ(::symlink("/etc/passwd", path.c_str()), 0);
    EXPECT_THAT(FailureOfStart(), HasSubstr(path + " is a link; remove it"));
    std::filesystem::remove(path);
    scratch_.Write("victim", "text");
    ASSERT_EQ(::link((scratch_.path() + "/victim").c_str(), path.c_str()), 0);
    EXPECT_THAT(FailureOfStart(), HasSubstr(path + " has another name too; remove it"));
    std::filesystem::remove(path);
  }
  EXPECT_EQ(Server(), 0);
}

TEST_F(PrivateServerTest, NamesTheProcessThatDoesNotGiveTheLockBack) {
  ASSERT_EQ(::mkdir(directory().path.c_str(), 0700), 0);
  const OwnedFd lock(::open(directory().lock().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(::flock(lock.get(), LOCK_EX), 0);
  PrivateServerOptions options = Options();
  options.patience = std::chrono::milliseconds(20);
  const auto started = EnsurePrivateServer(options);
  ASSERT_FALSE(started.has_value());
  EXPECT_EQ(started.error().kind, ErrorKind::kTimeout);
  EXPECT_THAT(started.error().message,
              HasSubstr("the lock " + directory().lock() + " is held by process " + std::to_string(::getpid()) + " ("));
}

// A home directory may have a long path.
TEST_F(PrivateServerTest, MayHaveADirectoryWhosePathIsLongerThanThatOfASocket) {
  std::filesystem::create_directory(scratch_.path() + "/" + std::string(200, 'd'));
  PrivateServerOptions options = Options();
  options.directory = {scratch_.path() + "/" + std::string(200, 'd') + "/holdfast"};
  const auto started = EnsurePrivateServer(options);
  ASSERT_TRUE(started.has_value()) << started.error().message;
  const auto directory = runtime_dir::OpenRuntimeDir(options.directory);
  ASSERT_TRUE(directory.has_value());
  EXPECT_TRUE(IsPrivateServerUp(directory->get(), options.directory));
  std::filesystem::rename(scratch_.path() + "/" + std::string(200, 'd') + "/holdfast", this->directory().path);
  EXPECT_GT(Server(), 0);  // which is ended with the test
}

}  // namespace
}  // namespace holdfast::cli
