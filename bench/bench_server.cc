#include "bench_server.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "base/owned_fd.h"

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 20s;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  Require(file.is_open(), path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns the fields of /proc/PID/stat from the third on, which is the state. The second field is a name that may
// contain spaces.
std::string StatFromState(pid_t pid) {
  const std::string stat = ReadFile(fmt::format("/proc/{}/stat", pid));
  return stat.substr(stat.rfind(')') + 2);
}

[[noreturn]] void ExecuteInChild(const Launch& launch, int output) {
  (void)::prctl(
      PR_SET_PDEATHSIG,
      SIGTERM);  // the server ends with the benchmark; if this fails, only a failed benchmark leaves one behind
  ::dup2(output, STDOUT_FILENO);
  for (const std::string& variable : launch.variables) ::putenv(const_cast<char*>(variable.c_str()));
  std::vector<char*> argv = {const_cast<char*>("holdfast")};
  for (const std::string& word : launch.arguments) argv.push_back(const_cast<char*>(word.c_str()));  // exec only reads
  argv.push_back(nullptr);
  ::execv(HOLDFAST_BINARY, argv.data());
  ::_exit(127);
}

// Returns the URL that the server prints. Its path contains the secret.
std::string ReadUrl(int output) {
  std::string line;
  char c = 0;
  while (::read(output, &c, 1) == 1 && c != '\n') line += c;
  Require(line.starts_with("ws://") || line.starts_with("http://"), HOLDFAST_BINARY " did not print its URL");
  return line;
}

}  // namespace

void Require(bool holds, std::string_view reason) {
  if (holds) return;
  fmt::print(stderr, "benchmark: {}\n", reason);
  std::exit(1);
}

Server::Server(const Launch& launch) {
  int output[2];
  Require(::pipe2(output, O_CLOEXEC) == 0, "pipe2");
  const OwnedFd read_end(output[0]);
  OwnedFd write_end(output[1]);
  pid_ = ::fork();
  if (pid_ == 0) ExecuteInChild(launch, write_end.get());
  Require(pid_ > 0, "fork");
  write_end.Reset();
  if (launch.prints == Launch::Prints::kUrl) url_ = ReadUrl(read_end.get());
}

Server::~Server() {
  ::kill(pid_, SIGTERM);
  ::waitpid(pid_, nullptr, 0);
}

void Server::AwaitQuiet(size_t children) const {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  const std::string path = fmt::format("/proc/{0}/task/{0}/children", pid_);
  for (;;) {
    const std::string pids = ReadFile(path);
    const auto count = static_cast<size_t>(std::ranges::count(pids, ' '));
    if (count == children && StatFromState(pid_).starts_with('S')) return;
    Require(std::chrono::steady_clock::now() < deadline,
            fmt::format("the server did not become quiet; it has {} children instead of {}", count, children));
  }
}

double Server::CpuSeconds() const {
  unsigned long user = 0;
  unsigned long system = 0;
  const std::string stat = StatFromState(pid_);
  const int found = std::sscanf(stat.c_str(), "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
  Require(found == 2, "utime and stime in /proc/PID/stat");
  return static_cast<double>(user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

// The number comes from smaps_rollup, for which the kernel walks the pages. VmRSS and statm may be off by some dozen
// pages per CPU.
double Server::RssKib() const {
  const std::string rollup = ReadFile(fmt::format("/proc/{}/smaps_rollup", pid_));
  const size_t at = rollup.find("\nRss:");
  Require(at != rollup.npos, "Rss in smaps_rollup");
  return std::strtod(rollup.c_str() + at + 5, nullptr);
}

}  // namespace holdfast::bench
