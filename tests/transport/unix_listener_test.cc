#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "support/web_socket_client.h"
#include "sys/descriptor_passing.h"
#include "transport/test_server.h"

namespace holdfast::transport {
namespace {

using support::TestSocket;
using support::WebSocketClient;
using ::testing::HasSubstr;

void Echo(Peer& peer, std::string_view message) { peer.transport()->Send(std::string(message)); }

class UnixListenerTest : public ::testing::Test {
 protected:
  UnixListenerTest() {
    std::string pattern = ::testing::TempDir() + "holdfast-unix-XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
    path_ = directory_ + "/server.sock";
  }
  ~UnixListenerTest() override { std::filesystem::remove_all(directory_); }

  TestServer::Listen Listen(const Limits& limits = {}) {
    return [this, limits](loop::EventLoop& loop, OnConnection on_connection) {
      return ListenUnix(loop, {path_}, limits, TestRoutes(), std::move(on_connection));
    };
  }

  // Returns the error of listening on a path where it cannot work.
  std::string ListenError() {
    loop::EventLoop loop;
    const auto listener = ListenUnix(loop, {path_}, Limits(), TestRoutes(), [](auto) {});
    return listener ? "none" : listener.error().message;
  }

  std::string directory_, path_;
};

TEST_F(UnixListenerTest, ServesWebSocketToAPeerThatBeginsWithALetter) {
  TestServer server(Listen(), Echo);
  EXPECT_EQ(server.url(), "unix://" + path_);
  auto client = WebSocketClient::Connect(server.url());
  client.SendText("over unix");
  EXPECT_EQ(client.ReceiveText(), "over unix");
}

// A read that does not expect descriptors closes them, and the close of a socket that lingers would hold up the server.
TEST_F(UnixListenerTest, RefusesDescriptors) {
  TestServer server(Listen(), Echo);
  TestSocket client = TestSocket::Connect(server.url());
  const int any = 0, yes = 1;
  constexpr int pass_rights = 83;  // SO_PASSRIGHTS
  if (::setsockopt(client.fd(), SOL_SOCKET, pass_rights, &yes, sizeof yes) != 0) GTEST_SKIP() << "before Linux 6.16";
  EXPECT_EQ(sys::TrySendDescriptors(client.fd(), {&any, 1}), EPERM);
}

TEST_F(UnixListenerTest, ServesLinesToAnyOtherPeer) {
  TestServer server(Listen(), Echo);
  TestSocket client = TestSocket::Connect(server.url());
  client.Send("{\"id\":1}\n{\"id\":2}\n");
  EXPECT_EQ(client.ReceiveSome(), "{\"id\":1}\n{\"id\":2}\n");
  client.CloseWrite();
  EXPECT_EQ(client.ReceiveAll(), "");
  EXPECT_TRUE(server.WaitForPeer().WaitForClosed());
}

TEST_F(UnixListenerTest, ClosesLinesAboveTheConnectionLimit) {
  Limits limits;
  limits.max_connections = 1;
  TestServer server(Listen(limits));
  TestSocket first = TestSocket::Connect(server.url());
  first.Send("{}\n");
  EXPECT_EQ(server.WaitForPeer().WaitForMessage(), "{}");
  TestSocket second = TestSocket::Connect(server.url());
  second.Send("{}\n");
  EXPECT_EQ(second.ReceiveAll(), "");
}

// A peer that may speak lines may stay silent, so no timer ends its connection. The oldest one is ended to make room.
TEST_F(UnixListenerTest, LetsSilentPeersLockNobodyOut) {
  TestServer server(Listen(), Echo);
  TestSocket talker = TestSocket::Connect(server.url());
  talker.Send("{}\n");
  EXPECT_EQ(talker.ReceiveSome(), "{}\n");
  std::vector<TestSocket> silent;
  for (int i = 0; i < 300; ++i) silent.push_back(TestSocket::Connect(server.url()));
  EXPECT_EQ(silent.front().ReceiveAll(), "") << "the oldest one was not closed";
  TestSocket late = TestSocket::Connect(server.url());
  late.Send("{\"id\":1}\n");
  EXPECT_EQ(late.ReceiveSome(), "{\"id\":1}\n");
  auto late_web_socket = WebSocketClient::Connect(server.url());
  late_web_socket.SendText("late");
  EXPECT_EQ(late_web_socket.ReceiveText(), "late");
  silent.back().Send("{\"id\":2}\n");
  EXPECT_EQ(silent.back().ReceiveSome(), "{\"id\":2}\n") << "a young one was closed";
  talker.Send("[]\n");
  EXPECT_EQ(talker.ReceiveSome(), "[]\n") << "one that had spoken was closed";
}

TEST_F(UnixListenerTest, IsOpenToItsOwnerOnly) {
  TestServer server(Listen());
  struct stat status{};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
}

TEST_F(UnixListenerTest, RemovesItsFileWhenItStops) {
  TestServer server(Listen());
  EXPECT_TRUE(std::filesystem::exists(path_));
  server.Stop();
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(UnixListenerTest, LeavesAFileThatTookItsPlace) {
  TestServer server(Listen());
  std::filesystem::remove(path_);
  std::ofstream(path_) << "somebody else's";
  server.Stop();
  EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST_F(UnixListenerTest, ReplacesTheSocketOfADeadServer) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = ""};
  path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
  {
    const OwnedFd dead(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(dead.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    ASSERT_EQ(::listen(dead.get(), 1), 0);
  }
  TestServer server(Listen());
  WebSocketClient::Connect(server.url()).SendText("alive");
  EXPECT_EQ(server.WaitForPeer().WaitForMessage(), "alive");
}

TEST_F(UnixListenerTest, RefusesThePathOfALiveServer) {
  TestServer server(Listen());
  EXPECT_EQ(ListenError(), "bind " + path_ + ": another server listens there");
  WebSocketClient::Connect(server.url()).SendText("undisturbed");
  EXPECT_EQ(server.WaitForPeer().WaitForMessage(), "undisturbed");
}

TEST_F(UnixListenerTest, RefusesAPathThatIsNotASocket) {
  std::ofstream(path_) << "precious";
  EXPECT_EQ(ListenError(), "bind " + path_ + ": the path exists and is not a socket");
  EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST_F(UnixListenerTest, SaysWhyItCannotBind) {
  path_ = directory_ + "/missing/server.sock";
  EXPECT_EQ(ListenError(), "bind " + path_ + ": No such file or directory");
}

// Returns the exit status of a child with another uid: 0 if the server closed the connection without sending a byte.
int ConnectAs(uid_t uid, const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = ""};
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    if (::setuid(uid) < 0) ::_exit(2);
    if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) < 0) ::_exit(3);
    (void)::send(fd, "{}\n", 3, MSG_NOSIGNAL);  // the server may have closed the socket already
    char byte;
    ::_exit(::recv(fd, &byte, 1, 0) <= 0 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(UnixListenerTest, RefusesAPeerOfAnotherUid) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  TestServer server(Listen(), Echo);
  ASSERT_EQ(::chmod(directory_.c_str(), 0755), 0);
  ASSERT_EQ(::chmod(path_.c_str(), 0666), 0);  // the mode of the file admits everybody, so the uid decides
  EXPECT_EQ(ConnectAs(65534, path_), 0);
  EXPECT_EQ(ConnectAs(0, path_), 1);
}

}  // namespace
}  // namespace holdfast::transport
