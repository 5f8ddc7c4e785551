// The load of a rendezvous node: many executors and clients that echo, what the way through a node costs beside the
// direct way to a server, and what the way through two nodes costs beside that through one. Each round starts processes
// of its own. The table shows the median of the rounds.

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/random_id.h"
#include "base/sha256.h"
#include "bench_client.h"
#include "bench_commands.h"
#include "bench_flood.h"
#include "bench_nats.h"
#include "bench_report.h"
#include "bench_server.h"
#include "load_crowd.h"
#include "load_requests.h"
#include "sys/file_limit.h"

namespace holdfast::bench {
namespace {

constexpr size_t kFloodBytes = 256u << 20;
constexpr size_t kNodesFloodBytes = 1'000'000'000;

std::string DigestOf(std::string_view text) {
  Sha256 digest;
  digest.Update(std::as_bytes(std::span(text)));
  return digest.HexDigest();
}

// A directory with the tokens of a node.
class TokenFiles {
 public:
  TokenFiles() {
    Require(::mkdtemp(path_.data()) != nullptr, "mkdtemp");
    Write("executor.token", executor_);
    Write("tokens.toml", fmt::format("[[executor]]\nids = [\"*\"]\nmax_connections = 100000\ntoken_sha256 = \"{}\"\n"
                                     "[[client]]\nids = [\"*\"]\nmax_connections = 100000\ntoken_sha256 = \"{}\"\n",
                                     DigestOf(executor_), DigestOf(client_)));
  }
  ~TokenFiles() {
    std::error_code ignored;  // a directory that stays behind does no harm
    std::filesystem::remove_all(path_, ignored);
  }
  TokenFiles(const TokenFiles&) = delete;
  TokenFiles& operator=(const TokenFiles&) = delete;

  std::string Path(std::string_view name) const { return fmt::format("{}/{}", path_, name); }
  const std::string& executor() const { return executor_; }
  const std::string& client() const { return client_; }

 private:
  void Write(std::string_view name, std::string_view text) const {
    std::ofstream(Path(name)) << text;
    Require(::chmod(Path(name).c_str(), 0600) == 0, "chmod");
  }

  std::string path_ = "/tmp/rendezvous_load.XXXXXX";
  std::string executor_ = RandomSecret(), client_ = RandomSecret();
};

struct Node {
  explicit Node(const TokenFiles& files, const std::string& bus = "memory")
      : tokens(files),
        server({.arguments = {"rendezvous", "--listen", "127.0.0.1:0", "--tokens", files.Path("tokens.toml"), "--bus",
                              bus, "--log-level", "warn"}}) {}

  NodeAccess access() const { return {server.url(), tokens.executor(), tokens.client()}; }

  // Returns the URL of the executor at this node, as soon as the node knows it.
  std::string UrlOfExecutor() const {
    const std::string& url = server.url();
    AwaitExecutor(url, "real", tokens.client());
    return fmt::format("ws{}/executors/real?token={}", url.substr(url.find("://")), tokens.client());
  }

  const TokenFiles& tokens;
  Server server;
};

// Starts a real executor that connects to the node.
Launch ExecutorOf(const Node& node) {
  return {.arguments = {"exec-server", "--remote", node.server.url(), "--executor-id", "real", "--log-level", "error"},
          .variables = {"HOLDFAST_REMOTE_TOKEN_FILE=" + node.tokens.Path("executor.token")},
          .prints = Launch::Prints::kNothing};
}

// A real executor behind a node, and beside it a server that is reached directly.
struct TwoWays {
  TokenFiles tokens;
  Node node{tokens};
  Server executor{ExecutorOf(node)};
  Server server;
};

// A real executor at the first of two nodes.
struct TwoNodes {
  TokenFiles tokens;
  NatsServer nats;
  Node first{tokens, nats.url()}, second{tokens, nats.url()};
  Server executor{ExecutorOf(first)};
};

// Measures the memory of a node. The first pairs are not counted, because the node then allocates what all pairs share.
// A sanitized node allocates much of that kind.
void MeasurePairs(Report& report, size_t pairs) {
  constexpr size_t kFirstPairs = 20;
  const TokenFiles tokens;
  const Node node(tokens);
  node.server.AwaitQuiet(0);
  report.Add("rss_idle", "KiB", "RSS of the node before its first connection", node.server.RssKib());
  Crowd crowd(node.access());
  crowd.AddExecutors(kFirstPairs);
  crowd.AddClients();
  node.server.AwaitQuiet(0);
  const double first = node.server.RssKib();
  crowd.AddExecutors(pairs);
  node.server.AwaitQuiet(0);
  const auto count = static_cast<double>(pairs);
  report.Add("rss_waiting", "KiB", "RSS per executor that waits", (node.server.RssKib() - first) / count);
  crowd.AddClients();
  constexpr size_t kMessages = 100;
  const double cpu = node.server.CpuSeconds();
  const auto begin = Clock::now();
  const std::vector<double> times = crowd.Echo(pairs, kMessages);
  const double seconds = Microseconds(Clock::now() - begin) / 1e6;
  report.Add("echo_rate", "1/s", "echoes of all pairs together", static_cast<double>(times.size()) / seconds);
  report.Add("echo_cpu", "us", "CPU time of the node per echo",
             (node.server.CpuSeconds() - cpu) * 1e6 / static_cast<double>(times.size()));
  report.Add("echo_all_p50", "us", "echo while all pairs echo, p50", Median(times));
  report.Add("echo_all_p99", "us", "echo while all pairs echo, p99", Percentile(times, 99));
  node.server.AwaitQuiet(0);
  report.Add("rss_pair", "KiB", "RSS per pair, with the executor's next connection",
             (node.server.RssKib() - first) / count);
}

// Measures an echo of cat by both ways in turn, so that both see the machine in the same state. The node also has pairs
// that are silent meanwhile.
void MeasureLatency(Report& report, size_t pairs) {
  constexpr int kWarmUps = 50, kSamples = 2000;
  constexpr std::string_view kLine = "fifteen letters\n";
  const std::string chunk = Base64Encode(std::as_bytes(std::span(kLine)));
  const wire::ProcessWriteParams params{.process_id = "cat", .chunk = chunk, .write_id = {}};
  const TwoWays ways;
  Crowd crowd(ways.node.access());
  crowd.AddExecutors(pairs);
  crowd.AddClients();
  Client direct(ways.server.url()), through(ways.node.UrlOfExecutor());
  for (Client* client : {&direct, &through}) {
    client->Call<wire::ProcessStart>(StartParams("cat", {"/bin/cat"}, Stdio::kPipe));
  }
  std::vector<double> direct_us, through_us;
  for (int i = 0; i < kWarmUps + kSamples; ++i) {
    const double a = Echo(direct, params, kLine, kLine.size()).all_us;
    const double b = Echo(through, params, kLine, kLine.size()).all_us;
    if (i < kWarmUps) continue;
    direct_us.push_back(a);
    through_us.push_back(b);
  }
  report.Add("latency_direct_p50", "us", "16 bytes to cat and back, direct, p50", Median(direct_us));
  report.Add("latency_through_p50", "us", "16 bytes to cat and back, through a node, p50", Median(through_us));
  report.Add("latency_added", "us", "added by the node, p50", Median(through_us) - Median(direct_us));
  report.Add("latency_direct_p99", "us", "16 bytes to cat and back, direct, p99", Percentile(direct_us, 99));
  report.Add("latency_through_p99", "us", "16 bytes to cat and back, through a node, p99", Percentile(through_us, 99));
}

// Returns the MB/s of a flood of output.
double FloodRate(Client& client, size_t bytes) {
  const auto begin = Clock::now();
  client.Send<wire::ProcessStart>(StartParams("flood", FloodCommand(bytes), Stdio::kNoInput));
  ReceiveFlood(client, bytes);
  return static_cast<double>(bytes) / Microseconds(Clock::now() - begin);
}

void MeasureThroughput(Report& report, size_t) {
  const TwoWays ways;
  Client direct(ways.server.url()), through(ways.node.UrlOfExecutor());
  const double direct_rate = FloodRate(direct, kFloodBytes);
  const double cpu = ways.node.server.CpuSeconds();
  const double through_rate = FloodRate(through, kFloodBytes);
  report.Add("flood_direct", "MB/s", "256 MiB of output, direct", direct_rate);
  report.Add("flood_through", "MB/s", "256 MiB of output, through a node", through_rate);
  report.Add("flood_ratio", "x", "through a node over direct", through_rate / direct_rate);
  report.Add("flood_cpu", "s/GB", "the node's CPU time for it",
             (ways.node.server.CpuSeconds() - cpu) / (static_cast<double>(kFloodBytes) / 1e9));
}

double EchoTime(Client& client) {
  constexpr int kWarmUps = 50, kSamples = 2000;
  constexpr std::string_view kLine = "fifteen letters\n";
  const std::string chunk = Base64Encode(std::as_bytes(std::span(kLine)));
  const wire::ProcessWriteParams params{.process_id = "cat", .chunk = chunk, .write_id = {}};
  client.Call<wire::ProcessStart>(StartParams("cat", {"/bin/cat"}, Stdio::kPipe));
  std::vector<double> times_us;
  for (int i = 0; i < kWarmUps + kSamples; ++i) {
    const double time_us = Echo(client, params, kLine, kLine.size()).all_us;
    if (i >= kWarmUps) times_us.push_back(time_us);
  }
  return Median(times_us);
}

// Measures the way from the node of the client to that of the executor, and the time until a client has connected.
void MeasureNodes(Report& report, size_t) {
  constexpr int kConnects = 200;
  const TwoNodes nodes;
  Client one(nodes.first.UrlOfExecutor());
  const std::string url = nodes.second.UrlOfExecutor();
  Client two(url);
  const double one_us = EchoTime(one), two_us = EchoTime(two);
  report.Add("nodes_echo_one", "us", "16 bytes to cat and back, through one node of two, p50", one_us);
  report.Add("nodes_echo_two", "us", "16 bytes to cat and back, through both nodes, p50", two_us);
  const double one_rate = FloodRate(one, kNodesFloodBytes), cpu = nodes.second.server.CpuSeconds();
  const double two_rate = FloodRate(two, kNodesFloodBytes);
  report.Add("nodes_flood_one", "MB/s", "1 GB of output, through one node of two", one_rate);
  report.Add("nodes_flood_two", "MB/s", "1 GB of output, through both nodes", two_rate);
  report.Add("nodes_flood_ratio", "x", "through both nodes over through one", two_rate / one_rate);
  report.Add("nodes_flood_cpu", "s/GB", "CPU time of the client's node for it",
             (nodes.second.server.CpuSeconds() - cpu) / (static_cast<double>(kNodesFloodBytes) / 1e9));
  std::vector<double> connects_us;
  for (int i = 0; i < kConnects; ++i) {
    const auto begin = Clock::now();
    const Client client(url);
    connects_us.push_back(Microseconds(Clock::now() - begin));
  }
  report.Add("nodes_connect", "us", "connecting to an executor of the other node, p50", Median(connects_us));
}

struct Section {
  std::string_view name;
  void (*measure)(Report&, size_t pairs);
};

constexpr auto kSections = std::to_array<Section>({
    {"pairs", MeasurePairs},
    {"latency", MeasureLatency},
    {"throughput", MeasureThroughput},
    {"nodes", MeasureNodes},
});

struct Options {
  enum class Format { kTable, kJson } format = Format::kTable;
  int rounds = 3;
  size_t pairs = 500;
  std::string_view only;
};

template <typename Number>
bool ReadNumber(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number > 0;
}

Options ParseOptions(std::span<char* const> args) {
  Options options;
  bool understood = true;
  for (size_t i = 0; i < args.size() && understood; ++i) {
    const std::string_view flag = args[i];
    if (flag == "--json") {
      options.format = Options::Format::kJson;
      continue;
    }
    const std::string_view value = ++i < args.size() ? args[i] : "";
    if (flag == "--only") options.only = value;
    understood = flag == "--rounds" ? ReadNumber(value, options.rounds)
                 : flag == "--pairs"
                     ? ReadNumber(value, options.pairs)
                     : flag == "--only" && std::ranges::find(kSections, value, &Section::name) != kSections.end();
  }
  Require(understood, "the options are --json, --pairs N, --rounds N and --only pairs|latency|throughput|nodes");
  return options;
}

void Run(const Options& options) {
  const std::string occasion = Occasion();
  Report report;
  for (int round = 0; round < options.rounds; ++round) {
    for (const Section& section : kSections) {
      if (options.only.empty() || options.only == section.name) section.measure(report, options.pairs);
    }
  }
  (options.format == Options::Format::kJson ? PrintJson : PrintTable)(report, occasion, options.rounds);
}

}  // namespace
}  // namespace holdfast::bench

int main(int argc, char** argv) {
  using namespace holdfast::bench;
  if (argc == 3 && std::string_view(argv[1]) == "--flood") return WriteFlood(std::stoull(argv[2]));
  Require(holdfast::sys::RaiseFileLimit().has_value(), "the limit of open files cannot be raised");
  Run(ParseOptions(std::span(argv + 1, argv + argc)));
}
