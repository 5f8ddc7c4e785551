// The client library against published servers, where they are: HOLDFAST_E2E_CACHE names the folder in which `make e2e`
// keeps them (build/e2e-cache by default).
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/blocking.h"
#include "support/faulty_proxy.h"
#include "support/server_process.h"

namespace holdfast::client {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using testing::HasSubstr;

std::optional<std::string> FindServer(const std::string& version) {
  const char* const cache = std::getenv("HOLDFAST_E2E_CACHE");
  const fs::path folder = fs::path(cache != nullptr ? cache : HOLDFAST_SOURCE_DIR "/build/e2e-cache") / version;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
    if (entry.path().filename() == "codex" && entry.is_regular_file()) return entry.path().string();
  }
  return std::nullopt;
}

class PublishedServerTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto program = FindServer(GetParam());
    if (!program) GTEST_SKIP() << "there is no codex " << GetParam() << "; make e2e fetches it";
    const std::string command =
        fmt::format("echo $$; HOME={0} CODEX_HOME={0} exec {1} exec-server --listen ws://127.0.0.1:0 2>{0}/log",
                    dir_.Path(), *program);
    pipe_ = ::popen(command.c_str(), "r");
    ASSERT_NE(pipe_, nullptr);
    pid_ = std::atoi(ReadLine().c_str());
    ASSERT_GT(pid_, 0);
    url_ = ReadLine();
    ASSERT_TRUE(url_.starts_with("ws://")) << url_;
  }
  void TearDown() override {
    if (pipe_ == nullptr) return;
    if (pid_ > 0) ::kill(pid_, SIGKILL);  // kill(-1) would reach every process of this user
    ::pclose(pipe_);
  }
  std::string ReadLine() {
    char line[256] = "";
    (void)std::fgets(line, sizeof line, pipe_);
    std::string text(line);
    if (text.ends_with('\n')) text.pop_back();
    return text;
  }
  BlockingClient Connect(const std::string& url) {
    // A proxy may cut the very first connection.
    for (int attempt = 0; attempt < 20; ++attempt) {
      auto client = BlockingClient::Connect({.url = url});
      if (client) return *std::move(client);
    }
    auto client = BlockingClient::Connect({.url = url});
    EXPECT_TRUE(client) << client.error().message;
    return *std::move(client);
  }
  static StartOptions Shell(std::string script) {
    return {.argv = {"/bin/sh", "-c", std::move(script)}, .env = {{"PATH", "/usr/bin:/bin"}}};
  }

  support::TempDir dir_;
  FILE* pipe_ = nullptr;
  pid_t pid_ = -1;
  std::string url_;
};

TEST_P(PublishedServerTest, RunsCommands) {
  auto client = Connect(url_);
  const auto done = client.Run(Shell("pwd; echo problem >&2; exit 3"), "", 10s);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->output.out, "/\n");
  EXPECT_EQ(done->output.err, "problem\n");
  EXPECT_EQ(done->exit.exit_code, 3);
  const auto missing = client.Run({.argv = {"/no/such/program"}}, "");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("No such file or directory"));
}

TEST_P(PublishedServerTest, TypesIntoATerminal) {
  auto client = Connect(url_);
  StartOptions options = Shell("read line; echo \"got $line\"");
  options.terminal = TerminalSize{};
  const auto process = client.Start(options);
  ASSERT_TRUE(process) << process.error().message;
  const auto written = client.Await<void>([&](auto&) { return (*process)->Write("hello\n"); });
  EXPECT_TRUE(written) << written.error().message;
  const auto seen = client.Await<Progress>([&](auto&) { return (*process)->RunFor(10s); });
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_TRUE(seen->closed);
  EXPECT_THAT(seen->output.out, HasSubstr("got hello"));
}

TEST_P(PublishedServerTest, TerminatesACommand) {
  auto client = Connect(url_);
  const auto process = client.Start({.argv = {"/bin/sleep", "100"}});
  ASSERT_TRUE(process) << process.error().message;
  EXPECT_EQ(client.Await<bool>([&](auto&) { return (*process)->Terminate(); }), true);
  const auto end = client.Await<Exited>([&](auto&) { return (*process)->Wait(10s); });
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_NE(end->exit_code, 0);
}

TEST_P(PublishedServerTest, MovesFiles) {
  auto client = Connect(url_);
  std::string bytes(3'000'001, '\0');
  std::iota(bytes.begin(), bytes.end(), '\0');
  const ByteSource source = [&](uint64_t offset, size_t max) -> Result<std::string> {
    return bytes.substr(std::min<size_t>(offset, bytes.size()), max);
  };
  const auto folder = client.Await<void>([&](auto& c) { return c.files().CreateDirectory(dir_.Path("a b/c")); });
  ASSERT_TRUE(folder) << folder.error().message;
  const auto up = client.Await<uint64_t>([&](auto& c) { return c.files().Upload(dir_.Path("a b/c/f"), source); });
  ASSERT_TRUE(up) << up.error().message;
  std::string got;
  const ByteSink sink = [&](std::string_view piece) -> Result<> {
    got += piece;
    return {};
  };
  const auto down = client.Await<uint64_t>([&](auto& c) { return c.files().Download(dir_.Path("a b/c/f"), sink); });
  ASSERT_TRUE(down) << down.error().message;
  EXPECT_TRUE(got == bytes);
  const auto entries = client.Await<Files::Entries>([&](auto& c) { return c.files().List(dir_.Path("a b/c")); });
  ASSERT_TRUE(entries) << entries.error().message;
  EXPECT_EQ(entries->at(0).file_name, "f");
  EXPECT_TRUE(client.Await<void>([&](auto& c) { return c.files().Remove(dir_.Path("a b")); }));
  const auto gone = client.Await<std::string>([&](auto& c) { return c.files().Read(dir_.Path("a b/c/f")); });
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().kind, ErrorKind::kNotFound);
}

TEST_P(PublishedServerTest, GoesOnWhenConnectionsBreak) {
  const auto port = static_cast<uint16_t>(std::stoi(url_.substr(url_.rfind(':') + 1)));
  support::FaultyProxy proxy(port, 3);
  auto client = Connect(fmt::format("ws://127.0.0.1:{}", proxy.port()));
  const auto done = client.Run(Shell("i=0; while [ $i -lt 300 ]; do echo $i; sleep 0.01; i=$((i+1)); done"), "", 60s);
  ASSERT_TRUE(done) << done.error().message;
  std::string expected;
  for (int i = 0; i < 300; ++i) expected += std::to_string(i) + "\n";
  EXPECT_EQ(done->output.out, expected);
  EXPECT_TRUE(done->output.lost.empty());
  EXPECT_GT(proxy.cuts(), 1);
}

INSTANTIATE_TEST_SUITE_P(Versions, PublishedServerTest, testing::Values("0.130.0", "0.142.5", "0.166.0"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace holdfast::client
