// The commands that benchmarks run on a server, and how long they take: an echo, and a flood of output.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "bench_client.h"
#include "wire/methods.h"

namespace holdfast::bench {

using Clock = std::chrono::steady_clock;

double Microseconds(Clock::duration time);

enum class Stdio { kNoInput, kPipe, kTerminal };

wire::ProcessStartParams StartParams(std::string id, std::vector<std::string> argv, Stdio stdio);

// Runs a command without the server, and returns the microseconds until its end. It must succeed.
double Spawn(const std::vector<std::string>& argv);

struct RunTimes {
  double answered_us;
  double exited_us;
};

// Runs a command that succeeds without output, such as /bin/true, and returns after process/closed.
RunTimes RunTrue(Client& client, const wire::ProcessStartParams& params);

struct EchoTimes {
  double first_us;
  double all_us;
};

// Sends one write and waits for its answer and for `expected` as output. The times are those of the first `first_bytes`
// and of all bytes of the output.
EchoTimes Echo(Client& client, const wire::ProcessWriteParams& params, std::string_view expected, size_t first_bytes);

// Returns the command of a flood (bench_flood.h): this program with --flood.
std::vector<std::string> FloodCommand(size_t total);

// Receives the events of a flood until its process is closed, and checks every byte.
void ReceiveFlood(Client& client, size_t total);

}  // namespace holdfast::bench
