// Tests of which processes of this machine a listener serves, with the real server.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/server_process.h"
#include "support/test_socket.h"
#include "support/web_socket_client.h"

namespace holdfast {
namespace {

using support::Finished;
using support::PathOf;
using support::RunHoldfast;
using support::ServerProcess;
using support::TestSocket;
using support::WebSocketClient;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

constexpr uid_t kNobody = 65534;

// Returns the status line of the answer to a WebSocket upgrade.
std::string StatusOf(const std::string& url, const std::string& path) {
  TestSocket socket = TestSocket::Connect(url);
  socket.Send(WebSocketClient::UpgradeRequest(path));
  const std::string answer = socket.ReceiveSome().value_or("no answer");
  return answer.substr(0, answer.find("\r\n"));
}

// Returns an address with a port that is free at this moment.
std::string FreeAddress() {
  ServerProcess server = ServerProcess::Start();
  const std::string url = server.url();
  return url.substr(0, url.rfind('/'));
}

// Returns the result of `act` when another user does it.
std::string AsNobody(const std::function<std::string()>& act) {
  int result[2];
  EXPECT_EQ(::pipe(result), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgid(kNobody) < 0 || ::setuid(kNobody) < 0) ::_exit(1);
    const std::string text = act();
    ::_exit(::write(result[1], text.data(), text.size()) < 0 ? 1 : 0);
  }
  ::close(result[1]);
  std::string text(256, '\0');
  text.resize(static_cast<size_t>(std::max<ssize_t>(::read(result[0], text.data(), text.size()), 0)));
  ::close(result[0]);
  ::waitpid(child, nullptr, 0);
  return text;
}

// Every user can read the port of a server in /proc/net/tcp. If the server picks the port, knowing it is not enough.
TEST(AdmissionTest, AsksForTheSecretOfThePrintedUrl) {
  ServerProcess server = ServerProcess::Start();
  ASSERT_THAT(server.url(), MatchesRegex("ws://127\\.0\\.0\\.1:[0-9]+/[0-9a-f]{32,}"));
  EXPECT_THAT(StatusOf(server.url(), "/"), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(StatusOf(server.url(), PathOf(server.url()) + "0"), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(StatusOf(server.url(), PathOf(server.url())), StartsWith("HTTP/1.1 101 "));
}

TEST(AdmissionTest, MakesAFreshSecretForEachServer) {
  ServerProcess one = ServerProcess::Start(), other = ServerProcess::Start();
  EXPECT_THAT(StatusOf(one.url(), PathOf(other.url())), StartsWith("HTTP/1.1 401 "));
}

TEST(AdmissionTest, ServesAPlainUrlOnAnExplicitPort) {
  const std::string address = FreeAddress();
  ServerProcess server = ServerProcess::Start({"--listen", address});
  EXPECT_EQ(server.url(), address);
  EXPECT_THAT(StatusOf(server.url(), "/"), StartsWith("HTTP/1.1 101 "));
}

TEST(AdmissionTest, AsksForASecretOnAnExplicitPortWhenToldTo) {
  const std::string address = FreeAddress();
  ServerProcess server = ServerProcess::Start({"--listen", address, "--ws-auth", "url-secret"});
  EXPECT_THAT(server.url(), StartsWith(address + "/"));
  EXPECT_THAT(StatusOf(server.url(), "/"), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(StatusOf(server.url(), PathOf(server.url())), StartsWith("HTTP/1.1 101 "));
}

TEST(AdmissionTest, AsksForNoSecretWhenToldSo) {
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{"--ws-auth", "none"}, std::vector<std::string>{"--insecure-no-auth"}}) {
    ServerProcess server = ServerProcess::Start(flags);
    EXPECT_THAT(server.url(), MatchesRegex("ws://127\\.0\\.0\\.1:[0-9]+")) << flags.front();
    EXPECT_THAT(StatusOf(server.url(), "/"), StartsWith("HTTP/1.1 101 ")) << flags.front();
  }
}

TEST(AdmissionTest, ServesOtherMachinesThatKnowTheSecret) {
  ServerProcess server = ServerProcess::Start({"--listen", "ws://0.0.0.0:0", "--ws-auth", "url-secret"});
  EXPECT_THAT(server.url(), MatchesRegex("ws://0\\.0\\.0\\.0:[0-9]+/[0-9a-f]{32,}"));
}

TEST(AdmissionTest, RefusesASecretWithoutAUrlForIt) {
  for (const char* address : {"stdio", "unix:///tmp/holdfast-admission.sock"}) {
    const Finished run = RunHoldfast({"exec-server", "--listen", address, "--ws-auth", "url-secret"});
    EXPECT_EQ(run.exit_code, 2) << address;
    EXPECT_THAT(run.err, HasSubstr("needs a ws:// address")) << address;
  }
}

// A loopback port has no owner and no mode: any local user can connect to it, and could run commands as the server's
// user.
TEST(AdmissionTest, KeepsOtherUsersFromAnOpenPort) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can act as another user";
  ServerProcess server = ServerProcess::Start({"--ws-auth", "none"});
  EXPECT_THAT(AsNobody([&] { return StatusOf(server.url(), "/"); }), StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(StatusOf(server.url(), "/"), StartsWith("HTTP/1.1 101 "));
}

TEST(AdmissionTest, LetsOtherUsersInWhenToldTo) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can act as another user";
  ServerProcess server = ServerProcess::Start({"--insecure-no-auth"});
  EXPECT_THAT(AsNobody([&] { return StatusOf(server.url(), "/"); }), StartsWith("HTTP/1.1 101 "));
}

// Root may do anything to the server of a user anyway.
TEST(AdmissionTest, ServesItsOwnUserAndRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can act as another user";
  ServerProcess server = ServerProcess::Start({.flags = {"--ws-auth", "none"}, .user = kNobody});
  EXPECT_THAT(AsNobody([&] { return StatusOf(server.url(), "/"); }), StartsWith("HTTP/1.1 101 "));
  EXPECT_THAT(StatusOf(server.url(), "/"), StartsWith("HTTP/1.1 101 "));
}

}  // namespace
}  // namespace holdfast
