// Follows a command event by event, as a coroutine on an event loop, and interrupts it after a while:
//   follow_command URL ping 127.0.0.1
// The URL is the line that the server prints when it listens; it may end in a secret.
// The connection may break meanwhile: the events go on where they were.
#include <chrono>
#include <cstdio>
#include <string>
#include <variant>
#include <vector>

#include "holdfast/client/exec_server_client.h"
#include "holdfast/loop/event_loop.h"
#include "holdfast/loop/scope.h"

namespace {

using namespace std::chrono_literals;
using namespace holdfast;

void Print(const client::ProcessEvent& event) {
  if (const auto* output = std::get_if<client::Output>(&event)) {
    (void)std::fwrite(output->bytes.data(), 1, output->bytes.size(), stdout);
  } else if (const auto* lost = std::get_if<client::Lost>(&event)) {
    (void)std::printf("[the events %lu to %lu are lost]\n", lost->from_seq, lost->to_seq);
  } else if (const auto* exited = std::get_if<client::Exited>(&event)) {
    (void)std::printf("[exit code %ld]\n", exited->exit_code);
  } else if (const auto* failed = std::get_if<client::Failed>(&event)) {
    (void)std::printf("[%s]\n", failed->error.message.c_str());
  }
}

loop::Task<Result<>> Follow(loop::EventLoop& loop, std::string url, std::vector<std::string> command) {
  auto client = co_await client::ExecServerClient::Connect(loop, {.url = std::move(url)});
  if (!client) co_return std::unexpected(client.error());
  auto process = co_await client->Start({.argv = std::move(command), .env = {{"PATH", "/usr/bin:/bin"}}});
  if (!process) co_return std::unexpected(process.error());
  while (true) {
    const auto event = co_await (*process)->NextEventWithin(5s);
    if (!event) {
      (void)co_await (*process)->Signal("interrupt");  // nothing has happened for a while
      continue;
    }
    Print(*event);
    if (client::IsLast(*event)) break;
  }
  co_await client->Close();
  co_return Result<>();
}

loop::Task<> Main(loop::EventLoop& loop, std::string url, std::vector<std::string> command, int& status) {
  const auto outcome = co_await Follow(loop, std::move(url), std::move(command));
  if (!outcome) (void)std::fprintf(stderr, "follow_command: %s\n", outcome.error().message.c_str());
  status = outcome ? 0 : 125;
  loop.Stop();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    (void)std::fprintf(stderr, "usage: follow_command URL PROGRAM [ARGUMENT...]\n");
    return 2;
  }
  loop::EventLoop loop;
  int status = 0;
  loop::Scope scope;
  scope.Start(Main(loop, argv[1], std::vector<std::string>(argv + 2, argv + argc), status));
  loop.Run();
  return status;
}
