// The client library against the built server.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "client/blocking.h"
#include "client/child_dialer.h"
#include "support/server_process.h"

namespace holdfast::client {
namespace {

using namespace std::chrono_literals;
using support::ServerProcess;
using support::TempDir;
using testing::HasSubstr;

StartOptions Shell(std::string script) {
  return {.argv = {"/bin/sh", "-c", std::move(script)}, .env = {{"PATH", "/usr/bin:/bin"}}};
}

BlockingClient ConnectTo(const ServerProcess& server) {
  auto client = BlockingClient::Connect({.url = server.url()});
  EXPECT_TRUE(client) << client.error().message;
  return *std::move(client);
}

TEST(RealServerTest, RunsACommandAndCollectsItsOutput) {
  const auto server = ServerProcess::Start();
  auto client = ConnectTo(server);
  const auto done = client.Run(Shell("cat; echo problem >&2; exit 3"), "typed");
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->output.out, "typed");
  EXPECT_EQ(done->output.err, "problem\n");
  EXPECT_EQ(done->exit.exit_code, 3);
}

TEST(RealServerTest, RunsAPreparedCommandExactlyAsItIsGiven) {
  const auto server = ServerProcess::Start();
  auto client = ConnectTo(server);
  const wire::PreparedCommand env{
      .program = "/usr/bin/env", .cwd = "/usr", .argv = {"env"}, .env = {{"A", "1"}, {"PWD", "x"}}, .arg0 = {}};
  auto done = client.Run({.prepared = env}, "");
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->output.out, "A=1\nPWD=x\n");  // neither a PATH nor the command path of the server
  const wire::PreparedCommand shell{
      .program = "/bin/sh", .cwd = "/usr", .argv = {"first", "-c", "pwd; echo $0"}, .env = {}, .arg0 = "other"};
  done = client.Run({.prepared = shell}, "");
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->output.out, "/usr\nother\n");
  // A name without a slash is not looked for in PATH.
  const wire::PreparedCommand bare{
      .program = "sh", .cwd = "/usr", .argv = {"sh"}, .env = {{"PATH", "/bin"}}, .arg0 = {}};
  EXPECT_FALSE(client.Run({.prepared = bare}, ""));
}

TEST(RealServerTest, StartsNoCommandThatIsGivenTwice) {
  const auto server = ServerProcess::Start();
  auto client = ConnectTo(server);
  const wire::PreparedCommand prepared{.program = "/bin/true", .cwd = "/", .argv = {"true"}, .env = {}, .arg0 = {}};
  for (const StartOptions& options :
       {StartOptions{.argv = {"true"}, .prepared = prepared}, StartOptions{.cwd = "/usr", .prepared = prepared},
        StartOptions{.env = {{"A", "1"}}, .prepared = prepared}, StartOptions{.arg0 = "x", .prepared = prepared},
        StartOptions{.env_policy = wire::EnvPolicy{}, .prepared = prepared}}) {
    const auto done = client.Run(options, "");
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, ErrorKind::kInvalidParams);
    EXPECT_THAT(done.error().message, HasSubstr("prepared: argv"));
  }
}

TEST(RealServerTest, CarriesManyBytesBothWaysUnchanged) {
  const auto server = ServerProcess::Start();
  auto client = ConnectTo(server);
  std::string bytes(6 << 20, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 2654435761U >> 13);
  const auto done = client.Run(Shell("cat"), bytes);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(done->output.out == bytes);
}

TEST(RealServerTest, HandlesMayBeDestroyedWhileTheClientIs) {
  const auto server = ServerProcess::Start();
  for (int round = 0; round < 10; ++round) {
    std::optional<BlockingClient> client = ConnectTo(server);
    std::vector<std::shared_ptr<Process>> handles;
    std::vector<std::weak_ptr<Process>> processes;
    for (int i = 0; i < 8; ++i) {
      handles.push_back(client->Start(Shell("sleep 100")).value());
      processes.push_back(handles.back()->weak_from_this());
    }
    std::thread other([&] {
      while (!handles.empty()) handles.pop_back();
    });
    client.reset();
    other.join();
    for (const auto& process : processes) EXPECT_TRUE(process.expired());
  }
}

TEST(RealServerTest, KillsACommandWhoseTimeIsOver) {
  const auto server = ServerProcess::Start();
  auto client = ConnectTo(server);
  const auto done = client.Run(Shell("sleep 100"), "", 50ms);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::kTimeout);
  const auto list = client.Call<wire::ProcessList>({});
  ASSERT_TRUE(list);
  EXPECT_NE(list->processes.at(0).state, wire::ProcessState::kRunning);
}

TEST(RealServerTest, ReportsAProgramThatDoesNotExist) {
  const auto server = ServerProcess::Start();
  auto client = ConnectTo(server);
  const auto done = client.Run({.argv = {"/no/such/program"}}, "");
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("No such file or directory"));
}

loop::Task<Result<std::string>> Type(ExecServerClient& client) {
  auto process = co_await client.Start({.argv = {"/bin/sh", "-c", "stty size; read line; stty size; echo $line"},
                                        .env = {{"PATH", "/usr/bin:/bin"}},
                                        .terminal = TerminalSize{.rows = 30, .cols = 100}});
  if (!process) co_return std::unexpected(process.error());
  std::string seen;
  while (!seen.contains("30 100")) {
    auto progress = co_await (*process)->RunFor(20ms);
    if (!progress) co_return std::unexpected(progress.error());
    seen += progress->output.out;
  }
  (void)co_await (*process)->Resize({.rows = 31, .cols = 101});
  (void)co_await (*process)->Write("hello\n");
  auto done = co_await (*process)->Communicate("", 10s);
  if (!done) co_return std::unexpected(done.error());
  co_return seen + done->output.out;
}

TEST(RealServerTest, TypesIntoATerminalAndResizesIt) {
  const auto server = ServerProcess::Start();
  auto client = ConnectTo(server);
  const auto seen = client.Await<std::string>([](ExecServerClient& c) { return Type(c); }, 20s);
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_THAT(*seen, HasSubstr("hello\r\n31 101\r\nhello"));
}

TEST(RealServerTest, UploadsAndDownloadsAFile) {
  const auto server = ServerProcess::Start();
  const TempDir dir;
  auto client = ConnectTo(server);
  std::string bytes(5'000'001, 'x');
  for (size_t i = 0; i < bytes.size(); i += 97) bytes[i] = static_cast<char>(i);
  const ByteSource source = [&](uint64_t offset, size_t max) -> Result<std::string> {
    return bytes.substr(std::min<size_t>(offset, bytes.size()), max);
  };
  const auto up = client.Await<uint64_t>([&](auto& c) { return c.files().Upload(dir.Path("f"), source); });
  EXPECT_EQ(up, bytes.size()) << up.error().message;
  std::string got;
  const ByteSink sink = [&](std::string_view piece) -> Result<> {
    got += piece;
    return {};
  };
  const auto down = client.Await<uint64_t>([&](auto& c) { return c.files().Download(dir.Path("f"), sink); });
  EXPECT_EQ(down, bytes.size()) << down.error().message;
  EXPECT_TRUE(got == bytes);
}

TEST(RealServerTest, ChangesFiles) {
  const auto server = ServerProcess::Start();
  const TempDir dir;
  auto client = ConnectTo(server);
  const auto run = [&](auto begin) { return client.Await<void>(begin).has_value(); };
  EXPECT_TRUE(run([&](auto& c) { return c.files().CreateDirectory(dir.Path("a/b")); }));
  EXPECT_TRUE(run([&](auto& c) { return c.files().Write(dir.Path("a/b/f g"), "text"); }));
  EXPECT_TRUE(run([&](auto& c) { return c.files().Copy(dir.Path("a"), dir.Path("c")); }));
  EXPECT_TRUE(run([&](auto& c) { return c.files().Rename(dir.Path("c/b/f g"), dir.Path("c/b/h")); }));
  EXPECT_EQ(client.Await<std::string>([&](auto& c) { return c.files().Read(dir.Path("c/b/h")); }), "text");
  EXPECT_TRUE(run([&](auto& c) { return c.files().Remove(dir.Path("a")); }));
  EXPECT_FALSE(run([&](auto& c) { return c.files().Remove(dir.Path("a")); }));
  EXPECT_TRUE(run([&](auto& c) { return c.files().Remove(dir.Path("a"), Files::Missing::kIsFine); }));
  const auto entries = client.Await<Files::Entries>([&](auto& c) { return c.files().List(dir.Path("c/b")); });
  ASSERT_TRUE(entries);
  EXPECT_EQ(entries->at(0).file_name, "h");
  const auto missing = client.Await<std::string>([&](auto& c) { return c.files().Read(dir.Path("a")); });
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kNotFound);
}

TEST(RealServerTest, AnotherClientContinuesTheSession) {
  const auto server = ServerProcess::Start();
  std::string session, process;
  {
    auto client = ConnectTo(server);
    const auto started = client.Start(Shell("echo before; cat > /dev/null; sleep 0.1; echo after"));
    ASSERT_TRUE(started);
    process = (*started)->id();
    session =
        client.Await<std::string>([](auto& c) -> loop::Task<Result<std::string>> { co_return c.session_id(); }).value();
  }
  auto client = BlockingClient::Connect({.url = server.url(), .resume_session_id = session});
  ASSERT_TRUE(client) << client.error().message;
  const auto attached = client->Attach(process);
  ASSERT_TRUE(attached) << attached.error().message;
  const auto done = client->Await<Completed>([&](auto&) { return (*attached)->Communicate(""); });
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->output.out, "before\nafter\n");
}

TEST(RealServerTest, TalksToAServerThatIsItsChild) {
  loop::EventLoop loop;
  std::string out;
  loop::Scope scope;
  auto talk = [](loop::EventLoop& on, std::string& got) -> loop::Task<> {
    auto client = co_await ExecServerClient::ConnectBy(
        on, MakeChildDialer(on, {HOLDFAST_BINARY, "exec-server", "--listen", "stdio", "--log-level", "error"}), {});
    if (client) {
      auto process = co_await client->Start({.argv = {"/bin/echo", "hello"}});
      if (process) {
        auto done = co_await (*process)->Communicate("");
        if (done) got = done->output.out;
      }
      co_await client->Close();
    }
    on.Stop();
  };
  scope.Start(talk(loop, out));
  loop.Run();
  EXPECT_EQ(out, "hello\n");
}

TEST(RealServerTest, SaysWhyItCannotConnect) {
  const auto nobody = BlockingClient::Connect({.url = "ws://127.0.0.1:1"});
  ASSERT_FALSE(nobody);
  EXPECT_THAT(nobody.error().message, HasSubstr("refused"));
  const auto nonsense = BlockingClient::Connect({.url = "gopher://x"});
  ASSERT_FALSE(nonsense);
  EXPECT_THAT(nonsense.error().message, HasSubstr("gopher"));
}

// The kernel accepts the connection, and nothing answers.
TEST(RealServerTest, GivesUpConnectingWhenItsTimeIsOver) {
  const OwnedFd silent(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const name = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(silent.get(), name, size), 0);
  ASSERT_EQ(::listen(silent.get(), 1), 0);
  ASSERT_EQ(::getsockname(silent.get(), name, &size), 0);
  const auto begin = std::chrono::steady_clock::now();
  const auto client = BlockingClient::Connect({.url = fmt::format("ws://127.0.0.1:{}", ntohs(address.sin_port))}, 50ms);
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().kind, ErrorKind::kTimeout);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
}

TEST(RealServerTest, ConnectsWithinItsTime) {
  const auto server = ServerProcess::Start();
  auto client = BlockingClient::Connect({.url = server.url()}, 20s);
  ASSERT_TRUE(client) << client.error().message;
  EXPECT_EQ(client->Run({.argv = {"/bin/echo", "hello"}}, "")->output.out, "hello\n");
}

TEST(RealServerTest, ManyThreadsShareABlockingClient) {
  const auto server = ServerProcess::Start();
  auto client = ConnectTo(server);
  std::vector<std::string> outputs(8);
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < outputs.size(); ++i) {
      threads.emplace_back([&, i] {
        const auto done = client.Run({.argv = {"/bin/echo", std::to_string(i)}}, "");
        if (done) outputs[i] = done->output.out;
      });
    }
  }
  for (size_t i = 0; i < outputs.size(); ++i) EXPECT_EQ(outputs[i], std::to_string(i) + "\n");
}

TEST(RealServerTest, ABlockingCallCanBeCancelledByItsTime) {
  const auto server = ServerProcess::Start();
  auto client = ConnectTo(server);
  const auto process = client.Start({.argv = {"/bin/sleep", "100"}});
  ASSERT_TRUE(process);
  const auto waited = client.Await<Exited>([&](auto&) { return (*process)->Wait(); }, 20ms);
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().kind, ErrorKind::kTimeout);
  EXPECT_TRUE(client.Await<bool>([&](auto&) { return (*process)->Terminate(); }));
}

}  // namespace
}  // namespace holdfast::client
