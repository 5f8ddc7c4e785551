// Tests of bearer tokens at the port of the real server.
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/eventually.h"
#include "support/jwt.h"
#include "support/sandbox_workspace.h"
#include "support/scratch_dir.h"
#include "support/server_process.h"
#include "support/web_socket_client.h"
#include "transport/dialler.h"

namespace holdfast {
namespace {

using support::Base64Url;
using support::Eventually;
using support::Finished;
using support::RunHoldfast;
using support::ServerProcess;
using support::SignedJwt;
using support::TestSocket;
using support::WebSocketClient;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

constexpr const char* kToken = "a-token-of-some-length.0123456789";
constexpr const char* kSecret = "a shared secret that has 32 bytes or more";

// Returns the status and the body of the answer, such as `401 invalid websocket jwt`; `101 ` for an upgrade.
std::string Ask(const std::string& url, const std::string& headers, const std::string& path = "/") {
  TestSocket socket = TestSocket::Connect(url);
  socket.Send(WebSocketClient::UpgradeRequest(path, headers));
  const std::string answer = socket.ReceiveSome().value_or("no answer");
  const size_t end = answer.find("\r\n\r\n");
  if (!answer.starts_with("HTTP/1.1 ") || end == std::string::npos) return answer;
  return answer.substr(9, 4) + answer.substr(end + 4);
}

std::string Bearer(std::string_view token) { return fmt::format("Authorization: Bearer {}\r\n", token); }
std::string AskWith(const ServerProcess& server, std::string_view token) { return Ask(server.url(), Bearer(token)); }

class TokenTest : public testing::Test {
 protected:
  std::string File(std::string_view name, std::string_view text, mode_t mode = 0600) const {
    std::string path = scratch_.Write(name, text, mode);
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  std::vector<std::string> CapabilityFlags() const {
    return {"--ws-auth", "capability-token", "--ws-token-file", File("token", std::string(kToken) + "\n")};
  }
  std::vector<std::string> SignedFlags(std::vector<std::string> more = {}) const {
    std::vector<std::string> flags = {"--ws-auth", "signed-bearer-token", "--ws-shared-secret-file",
                                      File("secret", std::string(kSecret) + "\n")};
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
  }

  support::ScratchDir scratch_;
};

TEST_F(TokenTest, AdmitsClientsWithTheCapabilityToken) {
  ServerProcess server = ServerProcess::Start(CapabilityFlags());
  EXPECT_THAT(server.url(), MatchesRegex("ws://127\\.0\\.0\\.1:[0-9]+"));
  struct Case {
    std::string headers;
    const char* answer;
  };
  for (const Case& c : std::initializer_list<Case>{
           {Bearer(kToken), "101 "},
           {fmt::format("authorization:   bEARER   {}  \r\n", kToken), "101 "},
           {"", "401 missing websocket bearer token"},
           {Bearer("other"), "401 invalid websocket bearer token"},
           {Bearer(std::string(kToken) + "x"), "401 invalid websocket bearer token"},
           {"Authorization: Bearer\r\n", "401 invalid authorization header"},
           {fmt::format("Authorization: {}\r\n", kToken), "401 invalid authorization header"},
           {fmt::format("Authorization: Basic {}\r\n", kToken), "401 invalid authorization header"},
           {Bearer(kToken) + Bearer(kToken), "401 invalid authorization header"},
       }) {
    EXPECT_EQ(Ask(server.url(), c.headers), c.answer) << c.headers;
  }
}

TEST_F(TokenTest, AsksForABearerTokenInPlainText) {
  ServerProcess server = ServerProcess::Start(CapabilityFlags());
  TestSocket socket = TestSocket::Connect(server.url());
  socket.Send(WebSocketClient::UpgradeRequest());
  const std::string answer = socket.ReceiveSome().value_or("");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 401 Unauthorized\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\nWWW-Authenticate: Bearer\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\nContent-Type: text/plain\r\n"));
}

TEST_F(TokenTest, KeepsProbesOpenAndPathsUnknown) {
  ServerProcess server = ServerProcess::Start(CapabilityFlags());
  EXPECT_EQ(Ask(server.url(), "", "/readyz"), "200 ");
  EXPECT_EQ(Ask(server.url(), "", "/healthz"), "200 ");
  EXPECT_THAT(Ask(server.url(), "", "/" + std::string(kToken)), StartsWith("404 "));
  EXPECT_THAT(Ask(server.url(), Bearer(kToken) + "Origin: http://localhost\r\n"), StartsWith("403 "));
}

TEST_F(TokenTest, KnowsACapabilityTokenByItsDigest) {
  ServerProcess server =
      ServerProcess::Start({"--ws-auth", "capability-token", "--ws-token-sha256",
                            "BA7816BF8F01CFEA414140DE5DAE2223b00361a396177a9cb410ff61f20015ad"});  // that of abc
  EXPECT_EQ(AskWith(server, "abc"), "101 ");
  EXPECT_EQ(AskWith(server, "abd"), "401 invalid websocket bearer token");
}

TEST_F(TokenTest, AdmitsClientsWithASignedToken) {
  ServerProcess server = ServerProcess::Start(SignedFlags({"--ws-issuer", "me", "--ws-audience", "here"}));
  const auto now = static_cast<int64_t>(std::time(nullptr));
  const auto token = [&](int64_t exp, int64_t nbf, std::string_view rest) {
    return SignedJwt(kSecret, {.payload = fmt::format(R"({{"exp":{},"nbf":{},{}}})", now + exp, now + nbf, rest)});
  };
  constexpr std::string_view kOurs = R"("iss":"me","aud":"here")";
  struct Case {
    std::string token;
    const char* answer;
  };
  const std::string valid = token(60, 0, kOurs);
  const std::string payload = valid.substr(valid.find('.') + 1, valid.rfind('.') - valid.find('.') - 1);
  for (const Case& c : std::initializer_list<Case>{
           {valid, "101 "},
           {token(-15, 15, kOurs), "101 "},
           {token(60, 0, R"("iss":"me","aud":["there","here"])"), "101 "},
           {token(-60, -100, kOurs), "401 expired websocket jwt"},
           {token(160, 60, kOurs), "401 websocket jwt is not valid yet"},
           {token(60, 0, R"("iss":"you","aud":"here")"), "401 websocket jwt issuer mismatch"},
           {token(60, 0, R"("iss":"me","aud":"there")"), "401 websocket jwt audience mismatch"},
           {token(60, 0, R"("iss":"me")"), "401 websocket jwt audience mismatch"},
           {SignedJwt("another secret that has 32 bytes or more", {}), "401 invalid websocket jwt"},
           {SignedJwt(kSecret, {.payload = R"({"iss":"me","aud":"here"})"}), "401 invalid websocket jwt"},
           {SignedJwt(kSecret, {.header = R"({"alg":"HS512"})"}), "401 invalid websocket jwt"},
           {SignedJwt(kSecret, {.header = R"({"alg":"none"})"}), "401 invalid websocket jwt"},
           {Base64Url(R"({"alg":"none"})") + "." + payload + ".", "401 invalid websocket jwt"},
           {token(60, 0, fmt::format(R"({},"x":"{}")", kOurs, std::string(4800, 'x'))), "401 invalid websocket jwt"},
           {"not-a-jwt", "401 invalid websocket jwt"},
       }) {
    EXPECT_EQ(AskWith(server, c.token), c.answer) << c.token;
  }
  EXPECT_EQ(Ask(server.url(), ""), "401 missing websocket bearer token");
  EXPECT_EQ(Ask(server.url(), "Authorization: Basic x\r\n"), "401 invalid authorization header");
}

TEST_F(TokenTest, TakesTheClockSkewOfItsSettings) {
  ServerProcess server = ServerProcess::Start(SignedFlags({"--ws-max-clock-skew-seconds", "3600"}));
  const auto hour_ago = static_cast<int64_t>(std::time(nullptr)) - 3500;
  EXPECT_EQ(AskWith(server, SignedJwt(kSecret, {.payload = fmt::format(R"({{"exp":{}}})", hour_ago)})), "101 ");
}

TEST_F(TokenTest, RefusesSettingsThatDoNotFitTogether) {
  const std::string token = File("token", kToken), secret = File("secret", kSecret), empty = File("empty", " \n"),
                    loose = File("loose", kToken, 0666), digest(64, 'a'),
                    short_secret = File("short", "31 bytes .....................\n");
  struct Case {
    std::vector<std::string> flags;
    const char* reason;
  };
  for (const Case& c : std::initializer_list<Case>{
           {{"--ws-auth", "capability-token"}, "needs --ws-token-file or --ws-token-sha256"},
           {{"--ws-auth", "capability-token", "--ws-token-file", token, "--ws-token-sha256", digest},
            "both name a token"},
           {{"--ws-token-file", token}, "--ws-token-file needs --ws-auth capability-token"},
           {{"--ws-token-sha256", digest}, "--ws-token-sha256 needs --ws-auth capability-token"},
           {{"--ws-shared-secret-file", secret}, "needs --ws-auth signed-bearer-token"},
           {{"--ws-issuer", "me"}, "--ws-issuer needs --ws-auth signed-bearer-token"},
           {{"--ws-auth", "url-secret", "--ws-audience", "me"}, "--ws-audience needs --ws-auth signed-bearer-token"},
           {{"--ws-auth", "capability-token", "--ws-token-file", token, "--ws-max-clock-skew-seconds", "5"},
            "--ws-max-clock-skew-seconds needs --ws-auth signed-bearer-token"},
           {{"--ws-auth", "signed-bearer-token"}, "needs --ws-shared-secret-file"},
           {{"--ws-auth", "signed-bearer-token", "--ws-shared-secret-file", secret, "--ws-token-file", token},
            "--ws-token-file needs --ws-auth capability-token"},
           {{"--ws-auth", "signed-bearer-token", "--ws-shared-secret-file", short_secret}, "less than 32 bytes"},
           {{"--ws-auth", "capability-token", "--ws-token-sha256", "abc"}, "64 hexadecimal digits"},
           {{"--ws-auth", "capability-token", "--ws-token-file", "/nonexistent"}, "No such file or directory"},
           {{"--ws-auth", "capability-token", "--ws-token-file", empty}, "it is empty"},
           {{"--ws-auth", "capability-token", "--ws-token-file", loose}, "other users may change it"},
           {{"--listen", "stdio", "--ws-auth", "capability-token", "--ws-token-file", token}, "not stdio"},
           {{"--listen", "stdio", "--ws-token-file", token}, "needs --ws-auth capability-token"},
           {{"--listen", "unix:///tmp/holdfast-token.sock", "--ws-auth", "signed-bearer-token"},
            "needs a ws:// address"},
           {{"--listen", "ws://0.0.0.0:0"}, "Use --ws-auth capability-token or signed-bearer-token to require a token"},
       }) {
    std::vector<std::string> arguments = {"exec-server"};
    arguments.insert(arguments.end(), c.flags.begin(), c.flags.end());
    const Finished run = RunHoldfast(arguments);
    EXPECT_EQ(run.exit_code, std::string_view(c.reason) == "No such file or directory" ? 1 : 2) << c.reason;
    EXPECT_THAT(run.err, HasSubstr(c.reason));
    EXPECT_EQ(run.out, "") << c.reason;
  }
}

TEST_F(TokenTest, ServesOtherMachinesWithAToken) {
  std::vector<std::string> flags = CapabilityFlags();
  flags.insert(flags.end(), {"--listen", "ws://0.0.0.0:0"});
  ServerProcess server = ServerProcess::Start(flags);
  EXPECT_THAT(server.url(), MatchesRegex("ws://0\\.0\\.0\\.0:[0-9]+"));
}

TEST_F(TokenTest, WarnsOfASecretThatEveryUserMayRead) {
  std::vector<std::string> flags = CapabilityFlags();
  File("token", kToken, 0644);
  ServerProcess server = ServerProcess::Start(flags);
  EXPECT_THAT(server.Stderr(), HasSubstr("auth.secret_readable"));
}

// All processes of the machine share the loopback address, so a valid token is admitted whatever others have tried.
TEST_F(TokenTest, LimitsFailedAttempts) {
  ServerProcess server = ServerProcess::Start(CapabilityFlags());
  for (int i = 0; i < 20; ++i) ASSERT_THAT(AskWith(server, "wrong"), StartsWith("401 ")) << i;
  TestSocket socket = TestSocket::Connect(server.url());
  socket.Send(WebSocketClient::UpgradeRequest("/", Bearer("wrong")));
  const std::string answer = socket.ReceiveSome().value_or("");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 429 Too Many Requests\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\nRetry-After: "));
  EXPECT_THAT(answer, HasSubstr("too many failed attempts, wait "));
  EXPECT_EQ(AskWith(server, kToken), "101 ");
  const std::string log = server.Stderr();
  EXPECT_EQ(log.find("auth.refused"), log.rfind("auth.refused")) << log;
  EXPECT_THAT(log, HasSubstr("auth.refused"));
  EXPECT_EQ(log.find("auth.limited"), log.rfind("auth.limited")) << log;
  EXPECT_THAT(log, HasSubstr("auth.limited"));
}

TEST_F(TokenTest, ReadsTheTokenAgainOnSighup) {
  ServerProcess server = ServerProcess::Start(CapabilityFlags());
  const auto logs = [&](const char* event) { return Eventually([&] { return server.Stderr().contains(event); }); };
  File("token", "another-token");
  EXPECT_EQ(AskWith(server, kToken), "101 ");
  server.Signal(SIGHUP);
  ASSERT_TRUE(logs("auth.reloaded"));
  EXPECT_EQ(AskWith(server, kToken), "401 invalid websocket bearer token");
  EXPECT_EQ(AskWith(server, "another-token"), "101 ");
  File("token", "");
  server.Signal(SIGHUP);
  ASSERT_TRUE(logs("auth.reload_failed"));
  EXPECT_THAT(server.Stderr(), HasSubstr("it is empty"));
  EXPECT_EQ(AskWith(server, "another-token"), "101 ");
}

TEST_F(TokenTest, ReadsTheSharedSecretAgainOnSighup) {
  ServerProcess server = ServerProcess::Start(SignedFlags());
  const std::string renewed = "a renewed secret that has 32 bytes or more";
  File("secret", renewed);
  server.Signal(SIGHUP);
  ASSERT_TRUE(Eventually([&] { return server.Stderr().contains("auth.reloaded"); }));
  EXPECT_EQ(AskWith(server, SignedJwt(kSecret, {})), "401 invalid websocket jwt");
  EXPECT_EQ(AskWith(server, SignedJwt(renewed, {})), "101 ");
}

TEST_F(TokenTest, LogsNoTokenAndNoSecret) {
  for (std::vector<std::string> flags : {CapabilityFlags(), SignedFlags()}) {
    flags.insert(flags.end(), {"--log-level", "debug"});
    ServerProcess server = ServerProcess::Start(flags);
    const std::string jwt = SignedJwt(kSecret, {}), wrong = "a-wrong-token-that-a-client-sends";
    for (const std::string& token : {std::string(kToken), jwt, wrong}) AskWith(server, token);
    Ask(server.url(), fmt::format("Authorization: Basic {}\r\n", wrong));
    const Finished run = RunHoldfast({"run", "--server", server.url(), "--token-file", File("wrong", wrong), "true"});
    EXPECT_NE(run.exit_code, 0);
    File(flags[1] == "capability-token" ? "token" : "secret", "");
    server.Signal(SIGHUP);
    ASSERT_TRUE(Eventually([&] { return server.Stderr().contains("auth.reload_failed"); }));
    server.Stop();
    const std::string log = server.Stderr() + server.RestOfStdout() + run.err + run.out;
    EXPECT_THAT(log, HasSubstr("auth.refused"));
    EXPECT_THAT(log, HasSubstr("connection.opened"));
    for (const std::string& secret :
         {std::string(kToken), std::string(kSecret), jwt, wrong, jwt.substr(jwt.rfind('.') + 1)}) {
      EXPECT_THAT(log, Not(HasSubstr(secret)));
    }
  }
}

TEST_F(TokenTest, TheCommandLineSendsTheTokenOfAFile) {
  ServerProcess server = ServerProcess::Start(SignedFlags());
  const std::string good = File("good", SignedJwt(kSecret, {}) + "\n"), bad = File("bad", "wrong");
  const auto run = [&](const std::string& file) {
    return RunHoldfast({"run", "--server", server.url(), "--token-file", file, "--", "echo", "admitted"});
  };
  EXPECT_EQ(run(good).out, "admitted\n");
  EXPECT_THAT(run(bad).err, HasSubstr("401 Unauthorized"));
  EXPECT_THAT(run("/nonexistent").err, HasSubstr("/nonexistent: No such file or directory"));
  EXPECT_THAT(RunHoldfast({"run", "--server", server.url(), "true"}).err, HasSubstr("401 Unauthorized"));
}

// The directory of the token is the workspace, which the policy opens for reading and writing.
TEST_F(TokenTest, ASandboxedCommandGetsNeitherTheFileNorTheVariable) {
  const std::string reason =
      support::SandboxWorkspace({.user = ::geteuid(), .means = support::Means::kSystemBubblewrap}).WhyNot();
  if (!reason.empty()) GTEST_SKIP() << reason;
  ServerProcess server = ServerProcess::Start(CapabilityFlags());
  const std::string token = File("client-token", kToken), script = "cat token; echo variable=$LEAK; echo done";
  const auto run = [&](const std::string& sandbox) {
    return RunHoldfast({"run", "--server", server.url(), "--token-file", token, "--sandbox", sandbox, "-C",
                        scratch_.path(), "--env", "LEAK=" + std::string(kToken), "--", "sh", "-c", script});
  };
  EXPECT_EQ(run("none").out, fmt::format("{0}\nvariable={0}\ndone\n", kToken));
  for (const char* sandbox : {"read-only", "workspace-write"}) {
    const Finished inside = run(sandbox);
    EXPECT_EQ(inside.out, "variable=\ndone\n") << sandbox << inside.err;
  }
}

}  // namespace
}  // namespace holdfast
