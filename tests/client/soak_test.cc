// The client library through a proxy that cuts its connections. HOLDFAST_CLIENT_SOAK_SECONDS makes it run longer.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/exec_server_client.h"
#include "loop/event_loop.h"
#include "loop/scope.h"
#include "support/faulty_proxy.h"
#include "support/server_process.h"

namespace holdfast::client {
namespace {

using namespace std::chrono_literals;

std::chrono::seconds SoakTime() {
  const char* const wanted = std::getenv("HOLDFAST_CLIENT_SOAK_SECONDS");
  return std::chrono::seconds(wanted != nullptr ? std::atoi(wanted) : 10);
}

// Checks that lines are numbered 0, 1, 2, … A gap is allowed only where the client has reported a loss.
class LineCheck {
 public:
  void Add(const ProcessEvent& event) {
    if (std::holds_alternative<Lost>(event)) {
      ++losses;
      lost_since_line_ = true;
      partial_.clear();
      in_doubt_ = true;  // the next line may have lost its beginning
    }
    const auto* output = std::get_if<Output>(&event);
    if (output == nullptr) return;
    partial_ += output->bytes;
    size_t begin = 0;
    for (size_t end; (end = partial_.find('\n', begin)) != std::string::npos; begin = end + 1) {
      AddLine(std::string_view(partial_).substr(begin, end - begin));
    }
    partial_.erase(0, begin);
  }

  uint64_t next = 0;
  int losses = 0, faults = 0;

 private:
  void AddLine(std::string_view line) {
    if (std::exchange(in_doubt_, false)) return;
    uint64_t number = 0;
    const auto parsed = std::from_chars(line.data(), line.data() + line.size(), number);
    const bool is_number = parsed.ec == std::errc() && parsed.ptr == line.data() + line.size();
    const bool fits = number == next || (lost_since_line_ && number > next);
    if (!is_number || !fits) ++faults;
    lost_since_line_ = false;
    next = number + 1;
  }

  std::string partial_;
  bool in_doubt_ = false, lost_since_line_ = false;
};

struct Follower {
  LineCheck check;
  bool ended = false;
  std::string failure;
};

constexpr const char* kSteady =
    R"(awk 'BEGIN { for (i = 0; ; i++) { print i; fflush(); if (i % 200 == 0) system("sleep 0.01") } }')";
// Each burst is longer than the output that the server retains, so a cut at the wrong moment costs lines.
constexpr const char* kFlood =
    R"(awk 'BEGIN { for (i = 0; ; i++) { print i; if (i % 300000 == 0) { fflush(); system("sleep 0.3") } } }')";

loop::Task<> Follow(ExecServerClient& client, std::string script, Follower& follower) {
  auto process =
      co_await client.Start({.argv = {"/bin/sh", "-c", std::move(script)}, .env = {{"PATH", "/usr/bin:/bin"}}});
  while (process && !follower.ended) {
    const ProcessEvent event = co_await (*process)->NextEvent();
    follower.check.Add(event);
    if (const auto* failed = std::get_if<Failed>(&event)) follower.failure = failed->error.message;
    follower.ended = IsLast(event);
  }
  if (!process) follower.failure = process.error().message;
}

loop::Task<> Feed(std::shared_ptr<Process> process, const bool& stop, std::string& failure) {
  uint64_t number = 0;
  while (!stop) {
    const auto written = co_await process->Write(std::to_string(number++) + "\n");
    if (written) continue;
    failure = written.error().message;
    co_return;
  }
}

// Writes numbered lines to cat and checks what comes back.
loop::Task<> Echo(ExecServerClient& client, const bool& stop, Follower& follower) {
  auto process = co_await client.Start({.argv = {"/bin/cat"}, .input = Stdin::kOpen});
  if (!process) {
    follower.failure = process.error().message;
    co_return;
  }
  loop::Scope feeding;
  feeding.Start(Feed(*process, stop, follower.failure));
  while (true) {
    const ProcessEvent event = co_await (*process)->NextEvent();
    follower.check.Add(event);
    if (IsLast(event)) co_return;
  }
}

// The commands of one task: those that have run to their end, those that the client has reported as lost, and the
// errors that there must not be.
struct Starts {
  int done = 0, lost = 0;
  std::vector<std::string> failures;

  // On a busy machine a start may take longer than the server remembers it, or than the client waits for a connection.
  void Fail(const Error& error) {
    const bool is_lost = error.kind == ErrorKind::kDisconnected || error.kind == ErrorKind::kTimeout;
    is_lost ? static_cast<void>(++lost) : failures.push_back(error.message);
  }
};

// Starts one command after the other, each of which leaves a line in the file.
loop::Task<> StartMany(ExecServerClient& client, std::string file, const bool& stop, Starts& starts) {
  while (!stop) {
    auto process = co_await client.Start(
        {.argv = {"/bin/sh", "-c", "echo x >> " + file + "; echo done"}, .env = {{"PATH", "/usr/bin:/bin"}}});
    if (!process) {
      starts.Fail(process.error());
      continue;
    }
    const auto done = co_await (*process)->Communicate("", 30s);
    if (done && done->output.out == "done\n") ++starts.done;
    if (!done) starts.Fail(done.error());
  }
}

loop::Task<> Connect(loop::EventLoop& loop, std::string url, std::optional<ExecServerClient>& client) {
  while (!client) {
    auto connected = co_await ExecServerClient::Connect(loop, {.url = url});
    if (connected) client.emplace(*std::move(connected));
  }
  loop.Stop();
}

TEST(ClientSoakTest, EveryLineArrivesOnceAndInOrderOrIsReportedAsLost) {
  const auto server = support::ServerProcess::Start();
  const support::TempDir dir;
  const size_t colon = server.url().rfind(':');
  size_t path = server.url().find('/', colon);
  if (path == std::string::npos) path = server.url().size();
  support::FaultyProxy proxy(static_cast<uint16_t>(std::stoi(server.url().substr(colon + 1))), 7);
  const std::string url = fmt::format("ws://127.0.0.1:{}{}", proxy.port(), server.url().substr(path));

  loop::EventLoop loop;
  std::optional<ExecServerClient> client;
  std::vector<Follower> followers(4);
  Follower echo;
  bool stop = false;
  Starts starts;
  {
    loop::Scope scope;
    scope.Start(Connect(loop, url, client));
    loop.Run();
    for (size_t i = 0; i < followers.size(); ++i) {
      scope.Start(Follow(*client, i == 0 ? kFlood : kSteady, followers[i]));
    }
    scope.Start(Echo(*client, stop, echo));
    scope.Start(StartMany(*client, dir.Path("starts"), stop, starts));
    // On a busy machine the soak goes on until each task has done something, as long as that takes no minute.
    const auto deadline = std::chrono::steady_clock::now() + SoakTime() + 60s;
    const auto enough = [&] {
      return echo.check.next > 10 && starts.done > 1 && proxy.cuts() > 10 &&
             std::ranges::all_of(followers, [](const Follower& follower) { return follower.check.next > 100; });
    };
    loop::Timer end(loop, [&] {
      if (enough() || std::chrono::steady_clock::now() > deadline) return loop.Stop();
      end.Start(100ms);
    });
    end.Start(SoakTime());
    loop.Run();
    stop = true;
  }
  for (const Follower& follower : followers) {
    EXPECT_EQ(follower.failure, "");
    EXPECT_EQ(follower.check.faults, 0);
    EXPECT_GT(follower.check.next, 100U);
  }
  EXPECT_EQ(echo.failure, "");
  EXPECT_EQ(echo.check.faults, 0);
  EXPECT_EQ(echo.check.losses, 0);
  EXPECT_GT(echo.check.next, 10U);
  EXPECT_THAT(starts.failures, testing::IsEmpty());
  // A command whose start was lost, and the last one, may have run without the client having heard of it.
  const auto runs = static_cast<int>(std::filesystem::file_size(dir.Path("starts")) / 2);
  EXPECT_GE(runs, starts.done);
  EXPECT_LE(runs, starts.done + starts.lost + 1);
  EXPECT_GT(starts.done, 1);
  EXPECT_GT(proxy.cuts(), 10);
  fmt::print("{} cuts, {} lines in {} losses of the flood, {} echoes, {} starts, {} lost ones\n", proxy.cuts(),
             followers[0].check.next, followers[0].check.losses, echo.check.next, starts.done, starts.lost);
  loop::Timer end(loop, [&] { loop.Stop(); });
  client.reset();
  end.Start(200ms);
  loop.Run();
}

}  // namespace
}  // namespace holdfast::client
