// The URL with the secret of a server must not lie where others find it: in a file that they can read, or in the list
// of processes.
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/contents.h"
#include "support/eventually.h"
#include "support/lingering_peer.h"
#include "support/program.h"
#include "support/scratch_dir.h"
#include "support/server_process.h"

namespace holdfast::support {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string& Holdfast() {
  static const std::string path = HOLDFAST_BINARY;
  return path;
}

// Returns the secret at the end of a URL.
std::string SecretOf(const std::string& url) { return url.substr(url.rfind('/') + 1); }

TEST(UrlFileServerTest, TheUrlIsInTheFileAndNotOnStandardOutput) {
  const ScratchDir scratch;
  const std::string file = scratch.path() + "/url.txt";
  ServerProcess server = ServerProcess::StartWithUrlFile(file);
  EXPECT_EQ(RunHoldfast({"run", "--server", server.url(), "echo", "in"}).out, "in\n");
  server.Stop();
  EXPECT_EQ(server.RestOfStdout(), "");
  EXPECT_FALSE(fs::exists(file));
}

TEST(UrlFileServerTest, TheNextServerReplacesTheFileOfOneThatWasKilled) {
  const ScratchDir scratch;
  const std::string file = scratch.path() + "/url.txt";
  ServerProcess killed = ServerProcess::StartWithUrlFile(file);
  killed.Kill();
  EXPECT_EQ(Contents(file), killed.url() + "\n");
  ServerProcess next = ServerProcess::Launch({"exec-server", "--sandbox-check=false", "--url-file", file});
  EXPECT_TRUE(Eventually([&] { return Contents(file) != killed.url() + "\n"; })) << next.Stderr();
  next.Stop();
  EXPECT_FALSE(fs::exists(file));
}

TEST(UrlFileServerTest, AServerThatCannotWriteItDoesNotServe) {
  const ScratchDir scratch;
  const Finished no_directory = RunHoldfast({"exec-server", "--url-file", scratch.path() + "/missing/url.txt"});
  EXPECT_EQ(no_directory.exit_code, 1);
  EXPECT_THAT(no_directory.err, HasSubstr("No such file or directory"));
  const Finished stdio = RunHoldfast({"exec-server", "--listen", "stdio", "--url-file", scratch.path() + "/url.txt"});
  EXPECT_EQ(stdio.exit_code, 2);
  EXPECT_THAT(stdio.err, HasSubstr("--url-file needs an address to listen on, not stdio"));
}

// Starts a server whose standard output is opened by bash as `redirection` says, and returns its log.
std::string LogWithOutput(const ScratchDir& scratch, const std::string& redirection, const std::string& flags = "") {
  const std::string script = "cd " + scratch.path() + "; exec " + Holdfast() +
                             " exec-server --sandbox-check=false --exit-when-idle-ms 1 " + flags + " " + redirection;
  return Program({"bash", "-c", script}).Finish().err;
}

TEST(UrlOnStandardOutputTest, AFileThatCommandsCouldReadIsReported) {
  const ScratchDir scratch;
  EXPECT_THAT(LogWithOutput(scratch, "> url.txt"), AllOf(HasSubstr("url.readable"), HasSubstr("use --url-file")));
  EXPECT_THAT(Contents(scratch.path() + "/url.txt"), HasSubstr("ws://"));
  EXPECT_THAT(LogWithOutput(scratch, "> out.txt", "--url-file other.txt"), Not(HasSubstr("url.readable")));
  EXPECT_THAT(LogWithOutput(scratch, "> plain.txt", "--ws-auth none"), Not(HasSubstr("url.readable")));
  EXPECT_THAT(LogWithOutput(scratch, "| cat > copy.txt"), Not(HasSubstr("url.readable")));
}

TEST(UrlOnStandardOutputTest, AFifoIsReportedIfOthersMayReadIt) {
  const ScratchDir scratch;
  for (const mode_t mode : {0600u, 0640u, 0604u}) {
    const std::string fifo = "fifo" + std::to_string(mode);
    ASSERT_EQ(::mkfifo((scratch.path() + "/" + fifo).c_str(), mode), 0);
    ASSERT_EQ(::chmod((scratch.path() + "/" + fifo).c_str(), mode), 0);
    EXPECT_EQ(LogWithOutput(scratch, "<> " + fifo + " >&0").contains("url.readable"), mode != 0600u) << mode;
  }
}

// Every user of the machine may read /proc/PID/cmdline.
TEST(CommandLineTest, TheSecretOfTheServerIsNotInTheListOfProcesses) {
  ServerProcess server = ServerProcess::Start();
  const std::string secret = SecretOf(server.url());
  ASSERT_GT(secret.size(), 30u);
  for (const std::vector<std::string>& option :
       {std::vector<std::string>{"--server", server.url()}, {"--server=" + server.url()}}) {
    std::vector<std::string> words = {"run"};
    words.insert(words.end(), option.begin(), option.end());
    words.insert(words.end(), {"sh", "-c", "echo started; sleep 1000"});
    words.insert(words.begin(), Holdfast());
    Program run(words);
    run.AwaitOutput("started\n");
    const std::string line = Contents("/proc/" + std::to_string(run.pid()) + "/cmdline");
    EXPECT_THAT(line, AllOf(HasSubstr("ws://127.0.0.1:"), HasSubstr("/****"), HasSubstr("sleep 1000")));
    EXPECT_THAT(line, Not(HasSubstr(secret)));
    run.Signal(SIGTERM);
    run.Finish();
  }
}

TEST(CommandLineTest, TheSecretOfAnOfferedServerIsNotInTheListOfProcesses) {
  const LingeringPeer registry;  // never answers
  Program forward({"env", "CODEX_EXEC_SERVER_REMOTE_BEARER_TOKEN=t", Holdfast(), "exec-server", "forward", "--connect",
                   "ws://127.0.0.1:1/sesame", "--remote", "http://127.0.0.1:" + std::to_string(registry.port()),
                   "--executor-id", "x"});
  const std::string path = "/proc/" + std::to_string(forward.pid()) + "/cmdline";
  EXPECT_TRUE(Eventually([&] { return Contents(path).contains("ws://127.0.0.1:1/******"); })) << Contents(path);
  forward.Signal(SIGTERM);
  forward.Finish();
}

}  // namespace
}  // namespace holdfast::support
