// The example that embeds a server in another program, with the client library at the other end.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "client/blocking.h"
#include "support/server_process.h"

namespace holdfast::client {
namespace {

// The example lies beside the server of this build, and so does the helper.
std::string Beside(const std::string& name) {
  return (std::filesystem::path(HOLDFAST_BINARY).parent_path() / name).string();
}

class EmbeddedServerTest : public testing::Test {
 protected:
  void SetUp() override {
    // The server replaces the shell, so pclose returns the server's own status.
    const std::string command = "echo $$; exec " + Beside("example_embed_server") + " " + Beside("");
    pipe_ = ::popen(command.c_str(), "r");
    ASSERT_NE(pipe_, nullptr);
    pid_ = std::atoi(ReadLine().c_str());
    ASSERT_GT(pid_, 0);
    url_ = ReadLine();
  }
  void TearDown() override {
    if (pipe_ == nullptr) return;
    if (pid_ > 0) ::kill(pid_, SIGTERM);  // kill(-1) would reach every process of this user
    EXPECT_EQ(::pclose(pipe_), 0);
  }
  std::string ReadLine() {
    char line[256] = "";
    EXPECT_NE(std::fgets(line, sizeof line, pipe_), nullptr);
    std::string text(line);
    if (text.ends_with('\n')) text.pop_back();
    return text;
  }

  FILE* pipe_ = nullptr;
  pid_t pid_ = -1;
  std::string url_;
};

TEST_F(EmbeddedServerTest, RunsCommands) {
  auto client = BlockingClient::Connect({.url = url_});
  ASSERT_TRUE(client) << client.error().message;
  const auto done = client->Run({.argv = {"/bin/echo", "hello"}}, "");
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->output.out, "hello\n");
}

TEST_F(EmbeddedServerTest, SandboxesCommandsWithTheHelperThatItWasTold) {
  auto client = BlockingClient::Connect({.url = url_});
  ASSERT_TRUE(client) << client.error().message;
  const support::TempDir dir;
  const std::string script = "echo inside; echo x > " + dir.Path("f");
  const auto done = client->Run({.argv = {"/bin/sh", "-c", script}, .sandbox = R"({"type":"read-only"})"}, "");
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->output.out, "inside\n");
  EXPECT_NE(done->exit.exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(dir.Path("f")));
}

}  // namespace
}  // namespace holdfast::client
