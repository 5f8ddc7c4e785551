// Tests of settings as an operator gives them: flags, a file, and the messages about mistakes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "support/rpc_client.h"
#include "support/server_process.h"

namespace holdfast::support {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

class ConfigTest : public testing::Test {
 protected:
  std::string Write(const std::string& toml) {
    std::ofstream(dir_.Path("holdfast.toml")) << toml;
    return dir_.Path("holdfast.toml");
  }

  TempDir dir_;
};

// Expects this exit code, nothing on standard output, and one line on standard error.
void ExpectRefused(const std::vector<std::string>& flags, const std::string& reason, int exit_code = 2) {
  std::vector<std::string> arguments = {"exec-server"};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  const Finished run = RunHoldfast(arguments);
  EXPECT_EQ(run.exit_code, exit_code) << reason;
  EXPECT_EQ(run.out, "") << reason;
  EXPECT_THAT(run.err, AllOf(MatchesRegex("holdfast( exec-server)?: [^\n]+\n"), HasSubstr(reason)));
}

TEST_F(ConfigTest, ServesByTheFile) {
  const std::string url = "unix://" + dir_.Path("socket");
  ServerProcess server = ServerProcess::Start({"--config", Write("listen = \"" + url + "\"\nmax_sessions = 1\n")});
  EXPECT_EQ(server.url(), url);
  RpcClient first = RpcClient::Ready(url);
  RpcClient second(OpenChannel(url));
  EXPECT_EQ(second.Initialize().error_code(), -32600);
}

TEST_F(ConfigTest, PrefersTheFlagOverTheFile) {
  const std::string file = Write("listen = \"unix://" + dir_.Path("socket") + "\"\n");
  ServerProcess server = ServerProcess::Start({"--config", file, "--listen", "ws://127.0.0.1:0"});
  EXPECT_THAT(server.url(), StartsWith("ws://127.0.0.1:"));
}

TEST_F(ConfigTest, RefusesAKeyItDoesNotKnow) {
  ExpectRefused({"--config", Write("max_sessions = 1\nmax_sesions = 2\n")},
                "config " + dir_.Path("holdfast.toml") + ":2: unknown key \"max_sesions\"");
}

TEST_F(ConfigTest, RefusesAValueOfTheWrongKind) {
  ExpectRefused({"--config", Write("max_sessions = \"many\"\n")}, "max_sessions: expected a whole number");
  ExpectRefused({"--config", Write("max_sessions = 0\n")}, "max_sessions: 0 is not between 1 and 1000000");
  ExpectRefused({"--max-sessions", "many"}, "--max-sessions: expected a whole number");
  ExpectRefused({"--log-format", "xml"}, "--log-format: \"xml\" is not one of text|json");
}

TEST_F(ConfigTest, RefusesAFileThatIsNotThereOrNotToml) {
  ExpectRefused({"--config", dir_.Path("missing.toml")}, "No such file or directory", 1);
  ExpectRefused({"--config", Write("max_sessions = = 1\n")}, dir_.Path("holdfast.toml") + ":1:");
}

TEST_F(ConfigTest, RefusesAFlagItDoesNotKnow) {
  const Finished run = RunHoldfast({"exec-server", "--no-such-flag"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("--no-such-flag"));
  EXPECT_EQ(RunHoldfast({"no-such-command"}).exit_code, 2);
}

TEST_F(ConfigTest, PrintsWhatItReadsBack) {
  const Finished first = RunHoldfast({"exec-server", "--print-config", "--listen", "unix:///run/\"quoted\".sock",
                                      "--max-inflight", "7", "--allow-direct-exec=false", "--insecure-no-auth"});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("max_inflight = 7 "));
  const Finished second = RunHoldfast({"exec-server", "--print-config", "--config", Write(first.out)});
  EXPECT_EQ(second.exit_code, 0) << second.err;
  EXPECT_EQ(second.out, first.out);
}

TEST_F(ConfigTest, LogsJsonLinesToStderr) {
  ServerProcess server = ServerProcess::Start({"--log-format", "json"});
  RpcClient::Ready(server.url());
  server.Stop();
  std::istringstream lines(server.Stderr());
  size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_TRUE(Message(line).json().is_object()) << line;
  EXPECT_GT(count, 0u);
}

TEST_F(ConfigTest, LogsNothingWhenSwitchedOff) {
  ServerProcess server = ServerProcess::Start({"--log-level", "off"});
  RpcClient::Ready(server.url());
  server.Stop();
  EXPECT_EQ(server.Stderr(), "");
}

TEST_F(ConfigTest, TellsItsVersionAndItsFlags) {
  EXPECT_THAT(RunHoldfast({"--version"}).out, MatchesRegex("holdfast [0-9.]+\n"));
  const Finished help = RunHoldfast({"exec-server", "--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, HasSubstr("--detached-ttl-ms"));
}

}  // namespace
}  // namespace holdfast::support
