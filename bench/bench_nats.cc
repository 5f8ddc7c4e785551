#include "bench_nats.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include <fmt/format.h>

#include "bench_server.h"

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 10s;

// Returns the first URL in a file that the server writes when it listens: {"nats":["nats://127.0.0.1:4222"]}.
std::string UrlIn(const std::string& file_name) {
  std::ifstream file(file_name);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const size_t begin = text.find("nats://"), end = text.find('"', begin);
  return end == std::string::npos ? "" : text.substr(begin, end - begin);
}

}  // namespace

NatsServer::NatsServer() {
  char path[] = "/tmp/bench_nats.XXXXXX";
  Require(::mkdtemp(path) != nullptr, "mkdtemp");
  dir_ = path;
  const std::string log = dir_ + "/log", store = dir_ + "/store";
  pid_ = ::fork();
  if (pid_ == 0) {
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::execlp("nats-server", "nats-server", "-a", "127.0.0.1", "-p", "-1", "-js", "-sd", store.c_str(), "-l",
             log.c_str(), "--ports_file_dir", dir_.c_str(), nullptr);
    ::_exit(127);
  }
  Require(pid_ > 0, "fork");
  const std::string ports = fmt::format("{}/nats-server_{}.ports", dir_, pid_);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while ((url_ = UrlIn(ports)).empty()) {
    Require(std::chrono::steady_clock::now() < end, "nats-server does not start");
    std::this_thread::sleep_for(10ms);
  }
}

NatsServer::~NatsServer() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  std::error_code ignored;  // a directory that stays behind does no harm
  std::filesystem::remove_all(dir_, ignored);
}

}  // namespace holdfast::bench
