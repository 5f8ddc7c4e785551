#include "bench_commands.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/base64.h"
#include "bench_flood.h"
#include "bench_server.h"
#include "sys/argv.h"

namespace holdfast::bench {
namespace {

// Returns the number of an event of a process, and 0 for an answer.
uint64_t SeqOf(const Arrival& arrival) {
  return std::visit(
      [](const auto& event) -> uint64_t {
        if constexpr (requires { event.seq; }) {
          return event.seq;
        } else {
          return 0;
        }
      },
      arrival);
}

}  // namespace

double Microseconds(Clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }

wire::ProcessStartParams StartParams(std::string id, std::vector<std::string> argv, Stdio stdio) {
  wire::ProcessStartParams params;
  params.process_id = std::move(id);
  params.cwd = "/";
  params.argv = std::move(argv);
  params.tty = stdio == Stdio::kTerminal;
  params.pipe_stdin = stdio == Stdio::kPipe;
  return params;
}

double Spawn(const std::vector<std::string>& argv) {
  const sys::Argv words(argv);
  pid_t pid = 0;
  int status = 0;
  const auto begin = Clock::now();
  Require(::posix_spawnp(&pid, argv.front().c_str(), nullptr, nullptr, words.data(), environ) == 0, argv.front());
  Require(::waitpid(pid, &status, 0) == pid && status == 0, argv.front());
  return Microseconds(Clock::now() - begin);
}

RunTimes RunTrue(Client& client, const wire::ProcessStartParams& params) {
  RunTimes times{};
  const auto begin = Clock::now();
  client.Send<wire::ProcessStart>(params);
  client.Receive([&](const Arrival& arrival) {
    const double us = Microseconds(Clock::now() - begin);
    if (std::holds_alternative<Answered>(arrival)) times.answered_us = us;
    if (const auto* exited = std::get_if<wire::ProcessExitedParams>(&arrival)) {
      times.exited_us = us;
      Require(exited->exit_code == 0, "/bin/true failed");
    }
    return std::holds_alternative<wire::ProcessClosedParams>(arrival) ? Wanted::kNoMore : Wanted::kMore;
  });
  return times;
}

EchoTimes Echo(Client& client, const wire::ProcessWriteParams& params, std::string_view expected, size_t first_bytes) {
  EchoTimes times{};
  std::string echoed;
  bool answered = false;
  const auto begin = Clock::now();
  client.Send<wire::ProcessWrite>(params);
  client.Receive([&](const Arrival& arrival) {
    const double us = Microseconds(Clock::now() - begin);
    if (std::holds_alternative<Answered>(arrival)) answered = true;
    if (const auto* output = std::get_if<wire::OutputFrame>(&arrival)) {
      echoed += Base64Decode(output->chunk).value_or("");
      if (times.first_us == 0 && echoed.size() >= first_bytes) times.first_us = us;
      times.all_us = us;
    }
    return answered && echoed.size() >= expected.size() ? Wanted::kNoMore : Wanted::kMore;
  });
  Require(echoed == expected, "the echo differs from what was written");
  return times;
}

std::vector<std::string> FloodCommand(size_t total) {
  std::array<char, 4096> self;
  const ssize_t length = ::readlink("/proc/self/exe", self.data(), self.size());
  Require(length > 0, "readlink /proc/self/exe");
  return {std::string(self.data(), static_cast<size_t>(length)), "--flood", std::to_string(total)};
}

void ReceiveFlood(Client& client, size_t total) {
  FloodCheck check;
  uint64_t seq = 0;
  client.Receive([&](const Arrival& arrival) {
    if (std::holds_alternative<Answered>(arrival)) return Wanted::kMore;
    Require(SeqOf(arrival) == ++seq, "the sequence numbers have a gap");
    if (const auto* output = std::get_if<wire::OutputFrame>(&arrival)) check.Check(output->chunk);
    return std::holds_alternative<wire::ProcessClosedParams>(arrival) ? Wanted::kNoMore : Wanted::kMore;
  });
  Require(check.bytes() == total, fmt::format("{} bytes of output instead of {}", check.bytes(), total));
}

}  // namespace holdfast::bench
