// Benchmarks of the real program as an ordinary client sees it, over WebSocket on the loopback: the cost of a start, of
// an echo, of a flood of output and of an idle process. Each round starts servers of its own. The table shows the
// median of the rounds.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/base64.h"
#include "bench_client.h"
#include "bench_commands.h"
#include "bench_flood.h"
#include "bench_report.h"
#include "bench_sandbox.h"
#include "bench_server.h"
#include "wire/methods.h"

namespace holdfast::bench {
namespace {

constexpr int kWarmUps = 50;
constexpr int kSamples = 500;
constexpr size_t kMiB = 1 << 20;

wire::ProcessStartParams TrueParams(size_t number) {
  return StartParams(fmt::format("true-{}", number), {"/bin/true"}, Stdio::kNoInput);
}

// Measures starts by the server and bare spawns. The two are interleaved, so that both see the machine in the same
// state, and the server is quiet during a bare spawn.
void MeasureStart(Report& report) {
  const Server server;
  Client client(server.url());
  std::vector<double> bare, answered, exited;
  for (int i = 0; i < kWarmUps + kSamples; ++i) {
    server.AwaitQuiet(0);
    const double bare_us = Spawn({"/bin/true"});
    const RunTimes times = RunTrue(client, TrueParams(i));
    if (i < kWarmUps) continue;
    bare.push_back(bare_us);
    answered.push_back(times.answered_us);
    exited.push_back(times.exited_us);
  }
  report.Add("bare_spawn_p50", "us", "bare posix_spawn of /bin/true to wait, p50", Median(bare));
  report.Add("start_exited_p50", "us", "/bin/true, process/start to process/exited, p50", Median(exited));
  report.Add("start_exited_p99", "us", "/bin/true, process/start to process/exited, p99", Percentile(exited, 99));
  report.Add("start_exited_ratio", "x", "p50 of the server over the bare p50", Median(exited) / Median(bare));
  report.Add("start_answer_p50", "us", "/bin/true, process/start to its answer, p50", Median(answered));
}

void StartIdle(const Server& server, std::deque<Client>& clients, size_t count) {
  constexpr size_t kPerConnection = 250;
  for (size_t i = 0; i < count; ++i) {
    if (i % kPerConnection == 0) clients.emplace_back(server.url());
    clients.back().Call<wire::ProcessStart>(
        StartParams(fmt::format("idle-{}", i), {"/bin/sleep", "100000"}, Stdio::kNoInput));
  }
  server.AwaitQuiet(count);
}

// Measures whether the processes that already run make a start slower.
void MeasureStartBeside(Report& report) {
  double alone = 0;
  for (const size_t idle : {0u, 1000u, 4000u}) {
    const Server server;
    std::deque<Client> others;
    StartIdle(server, others, idle);
    Client client(server.url());
    std::vector<double> answered;
    for (int i = 0; i < kWarmUps + kSamples; ++i) {
      const RunTimes times = RunTrue(client, TrueParams(i));
      if (i >= kWarmUps) answered.push_back(times.answered_us);
    }
    if (idle == 0) alone = Median(answered);
    report.Add(fmt::format("start_beside_{}_p50", idle), "us",
               idle == 0      ? "start to its answer, nothing else running, p50"
               : idle == 1000 ? "start to its answer beside 1000 idle processes, p50"
                              : "start to its answer beside 4000 idle processes, p50",
               Median(answered));
    if (idle == 4000) report.Add("start_beside_ratio", "x", "beside 4000 over alone", Median(answered) / alone);
  }
}

struct EchoSamples {
  std::vector<double> first, all;
};

EchoSamples MeasureEcho(Stdio stdio, std::string_view expected, size_t first_bytes) {
  constexpr std::string_view kLine = "fifteen letters\n";
  const std::string chunk = Base64Encode(std::as_bytes(std::span(kLine)));
  const wire::ProcessWriteParams params{.process_id = "cat", .chunk = chunk, .write_id = {}};
  const Server server;
  Client client(server.url());
  client.Call<wire::ProcessStart>(StartParams("cat", {"/bin/cat"}, stdio));
  EchoSamples samples;
  for (int i = 0; i < kWarmUps + 4 * kSamples; ++i) {
    const EchoTimes times = Echo(client, params, expected, first_bytes);
    if (i < kWarmUps) continue;
    samples.first.push_back(times.first_us);
    samples.all.push_back(times.all_us);
  }
  return samples;
}

void MeasurePipeEcho(Report& report) {
  constexpr std::string_view kBack = "fifteen letters\n";
  const EchoSamples samples = MeasureEcho(Stdio::kPipe, kBack, kBack.size());
  report.Add("echo_pipe_p50", "us", "16 bytes to cat and back, pipe, p50", Median(samples.all));
  report.Add("echo_pipe_p99", "us", "16 bytes to cat and back, pipe, p99", Percentile(samples.all, 99));
}

// Measures the echo of a terminal: first the terminal echoes the line, then cat repeats it.
void MeasurePtyEcho(Report& report) {
  constexpr std::string_view kBack = "fifteen letters\r\nfifteen letters\r\n";
  const EchoSamples samples = MeasureEcho(Stdio::kTerminal, kBack, kBack.size() / 2);
  report.Add("echo_pty_p50", "us", "16 bytes to the terminal's echo, PTY, p50", Median(samples.first));
  report.Add("echo_pty_p99", "us", "16 bytes to the terminal's echo, PTY, p99", Percentile(samples.first, 99));
  report.Add("echo_pty_cat_p50", "us", "16 bytes to cat and back, PTY, p50", Median(samples.all));
  report.Add("echo_pty_cat_p99", "us", "16 bytes to cat and back, PTY, p99", Percentile(samples.all, 99));
}

struct FloodCost {
  double mb_per_second;
  double cpu_seconds_per_gb;
};

FloodCost MeasureFlood(Stdio stdio, size_t total) {
  const Server server;
  Client client(server.url());
  const double cpu = server.CpuSeconds();
  const auto begin = Clock::now();
  client.Send<wire::ProcessStart>(StartParams("flood", FloodCommand(total), stdio));
  ReceiveFlood(client, total);
  const double seconds = Microseconds(Clock::now() - begin) / 1e6;
  return {static_cast<double>(total) / 1e6 / seconds, (server.CpuSeconds() - cpu) / (static_cast<double>(total) / 1e9)};
}

void MeasurePipeFlood(Report& report) {
  const FloodCost cost = MeasureFlood(Stdio::kNoInput, 256 * kMiB);
  report.Add("flood_pipe_rate", "MB/s", "256 MiB of output, pipe", cost.mb_per_second);
  report.Add("flood_pipe_cpu", "s/GB", "the server's CPU time for it", cost.cpu_seconds_per_gb);
}

void MeasurePtyFlood(Report& report) {
  const FloodCost cost = MeasureFlood(Stdio::kTerminal, 32 * kMiB);
  report.Add("flood_pty_rate", "MB/s", "32 MiB of output, PTY", cost.mb_per_second);
  report.Add("flood_pty_cpu", "s/GB", "the server's CPU time for it", cost.cpu_seconds_per_gb);
}

// Measures from the fork of the server to the answer to `initialize`.
void MeasureColdStart(Report& report) {
  constexpr int kStarts = 100;
  std::vector<double> answered;
  for (int i = 0; i < kStarts; ++i) {
    const auto begin = Clock::now();
    const Server server;
    const Client client(server.url());
    answered.push_back(Microseconds(Clock::now() - begin) / 1000);
  }
  report.Add("cold_start_least", "ms", "cold start until initialize is answered, least of 100",
             std::ranges::min(answered));
  report.Add("cold_start_p50", "ms", "cold start until initialize is answered, p50", Median(answered));
}

void MeasureIdleMemory(Report& report) {
  const Server server;
  server.AwaitQuiet(0);
  report.Add("rss_idle", "KiB", "RSS of the server before its first connection", server.RssKib());
}

void ConnectWithCat(const Server& server, std::deque<Client>& clients) {
  clients.emplace_back(server.url()).Call<wire::ProcessStart>(StartParams("cat", {"/bin/cat"}, Stdio::kPipe));
}

// Measures the memory per connection. The first connection is not counted, because the server then allocates what all
// connections share.
void MeasureConnectionMemory(Report& report) {
  constexpr size_t kConnections = 200;
  const Server server;
  std::deque<Client> clients;
  ConnectWithCat(server, clients);
  server.AwaitQuiet(1);
  const double before = server.RssKib();
  while (clients.size() < 1 + kConnections) ConnectWithCat(server, clients);
  server.AwaitQuiet(1 + kConnections);
  report.Add("rss_connection", "KiB", "RSS per connection with an idle cat, of 200",
             (server.RssKib() - before) / kConnections);
}

void MeasureFinishedMemory(Report& report) {
  constexpr int kFinished = 1000;
  const Server server;
  Client client(server.url());
  for (int i = 0; i < kWarmUps; ++i) RunTrue(client, TrueParams(i));
  server.AwaitQuiet(0);
  const double before = server.RssKib();
  for (int i = 0; i < kFinished; ++i) RunTrue(client, TrueParams(kWarmUps + i));
  server.AwaitQuiet(0);
  report.Add("rss_finished", "KiB", "RSS per 1000 finished /bin/true, still retained", server.RssKib() - before);
  const auto list = client.Call<wire::ProcessList>({});
  Require(std::ranges::find(list.processes, "true-0", &wire::ListedProcess::process_id) != list.processes.end(),
          "the first process is forgotten already");
}

void MeasureRequests(Report& report) {
  constexpr int kRequests = 20'000;
  const Server server;
  Client client(server.url());
  client.Call<wire::ProcessStart>(StartParams("cat", {"/bin/cat"}, Stdio::kPipe));
  for (int i = 0; i < kWarmUps; ++i) client.Call<wire::ProcessList>({});
  const auto begin = Clock::now();
  for (int i = 0; i < kRequests; ++i) client.Call<wire::ProcessList>({});
  const double seconds = Microseconds(Clock::now() - begin) / 1e6;
  report.Add("list_rate", "1/s", "process/list of one process, one request at a time", kRequests / seconds);
}

struct Section {
  std::string_view name;
  void (*measure)(Report&);
};

constexpr auto kSections = std::to_array<Section>({
    {"start", MeasureStart},
    {"start-beside", MeasureStartBeside},
    {"sandbox", MeasureSandbox},
    {"sandbox-rate", MeasureSandboxRate},
    {"sandbox-workspaces", MeasureSandboxWorkspaces},
    {"echo-pipe", MeasurePipeEcho},
    {"echo-pty", MeasurePtyEcho},
    {"flood-pipe", MeasurePipeFlood},
    {"flood-pty", MeasurePtyFlood},
    {"cold-start", MeasureColdStart},
    {"rss-idle", MeasureIdleMemory},
    {"rss-connection", MeasureConnectionMemory},
    {"rss-finished", MeasureFinishedMemory},
    {"list", MeasureRequests},
});

struct Options {
  enum class Format { kTable, kJson } format = Format::kTable;
  int rounds = 3;
  std::string_view only;
};

// Returns the number at the beginning of the text, or 0 if there is none.
int WholeNumber(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

bool IsSection(std::string_view name) { return std::ranges::find(kSections, name, &Section::name) != kSections.end(); }

Options ParseOptions(std::span<char* const> args) {
  Options options;
  bool understood = true;
  for (size_t i = 0; i < args.size() && understood; ++i) {
    const std::string_view flag = args[i];
    const std::string_view value = i + 1 < args.size() ? args[i + 1] : "";
    if (flag == "--json") {
      options.format = Options::Format::kJson;
      continue;
    }
    ++i;
    if (flag == "--only") options.only = value;
    if (flag == "--rounds") options.rounds = WholeNumber(value);
    understood = flag == "--rounds" ? options.rounds > 0 : flag == "--only" && IsSection(value);
  }
  auto names = kSections | std::views::transform(&Section::name);
  Require(understood, fmt::format("the options are --json, --rounds N and --only {}", fmt::join(names, "|")));
  return options;
}

void Run(const Options& options) {
  const std::string occasion = Occasion();
  Report report;
  for (int round = 0; round < options.rounds; ++round) {
    for (const Section& section : kSections) {
      if (options.only.empty() || options.only == section.name) section.measure(report);
    }
  }
  (options.format == Options::Format::kJson ? PrintJson : PrintTable)(report, occasion, options.rounds);
}

}  // namespace
}  // namespace holdfast::bench

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--flood") return holdfast::bench::WriteFlood(std::stoull(argv[2]));
  holdfast::bench::Run(holdfast::bench::ParseOptions(std::span(argv + 1, argv + argc)));
}
