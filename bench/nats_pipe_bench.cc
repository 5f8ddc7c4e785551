// Benchmarks of the pipes between two nodes of a rendezvous, over a nats-server on loopback: the time of a small echo
// there and back, the throughput of a stream, and the cost of a pipe without traffic. Both nodes, with their buses, run
// on the one loop of the benchmark.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "loop/event_loop.h"
#include "loop/scope.h"
#include "rendezvous/nats/nats_bus.h"

namespace holdfast::rendezvous {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// A nats-server that ends with the benchmark.
class Server {
 public:
  Server() {
    char path[] = "/tmp/nats_pipe_bench.XXXXXX";
    dir_ = ::mkdtemp(path);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const std::string log = dir_ + "/log", store = dir_ + "/store";
      ::execl("/usr/sbin/nats-server", "nats-server", "-a", "127.0.0.1", "-p", "-1", "-js", "-sd", store.c_str(), "-l",
              log.c_str(), "--ports_file_dir", dir_.c_str(), nullptr);
      ::_exit(99);
    }
  }
  ~Server() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    fs::remove_all(dir_);
  }

  std::string AwaitUrl() const {
    const std::string ports = dir_ + "/nats-server_" + std::to_string(pid_) + ".ports";
    for (int i = 0; i < 500; ++i) {
      std::ifstream file(ports);
      const std::string text((std::istreambuf_iterator<char>(file)), {});
      const size_t begin = text.find("nats://"), end = text.find('"', begin);
      if (end != std::string::npos) return text.substr(begin, end - begin);
      std::this_thread::sleep_for(10ms);
    }
    std::fputs("nats-server does not start\n", stderr);
    std::exit(1);
  }

 private:
  std::string dir_;
  pid_t pid_;
};

// Two nodes, and a client of one that is joined to an executor of the other.
class Pair final : Node {
 public:
  Pair() {
    const std::string url = server_.AwaitUrl();
    near_ = *MakeNatsBus(loop, {.url = url});
    far_ = *MakeNatsBus(loop, {.url = url});
    scope_.Start(Connect());
    loop.Run();
  }

  // Joins further clients to the executor, and keeps both ends.
  void JoinMore(int count) {
    scope_.Start(Join(count));
    loop.Run();
  }

  loop::EventLoop loop;
  std::shared_ptr<Pipe> client, executor;

 private:
  Joined JoinWaiting(const std::string&, std::shared_ptr<Pipe> pipe) override {
    kept_.push_back(std::exchange(executor, std::move(pipe)));
    return Joined::kYes;
  }

  loop::Task<> Join(int count) {
    for (int i = 0; i < count; ++i) {
      auto joined = co_await near_->Join("executor");
      if (!joined) Give(joined.error());
      kept_.push_back(*std::move(joined));
    }
    loop.Stop();
  }

  loop::Task<> Connect() {
    for (Bus* bus : {near_.get(), far_.get()}) {
      if (const auto started = co_await bus->Start(*this); !started) Give(started.error());
    }
    ExecutorRecord record;
    record.id = "executor";
    record.waiting = 1;
    far_->Publish(record);
    for (int i = 0; i < 100 && client == nullptr; ++i) {
      if (auto joined = co_await near_->Join("executor")) client = *joined;
    }
    if (client == nullptr) Give({ErrorKind::kNotFound, "no pipe"});
    loop.Stop();
  }
  [[noreturn]] static void Give(const Error& error) {
    std::fprintf(stderr, "%s\n", error.message.c_str());
    std::exit(1);
  }

  Server server_;
  std::unique_ptr<Bus> near_, far_;
  std::vector<std::shared_ptr<Pipe>> kept_;
  loop::Scope scope_;
};

// Sends everything back.
class Echo final : public Pipe::Receiver {
 public:
  explicit Echo(Pipe& pipe) : pipe_(pipe) { pipe_.Start(*this); }
  void OnBytes(std::string_view bytes) override { pipe_.Send(bytes); }
  void OnDrained() override {}
  void OnEnded() override {}

 private:
  Pipe& pipe_;
};

// Stops the loop when the wanted number of bytes has come.
class Counter final : public Pipe::Receiver {
 public:
  Counter(loop::EventLoop& loop, Pipe& pipe) : loop_(loop) { pipe.Start(*this); }
  void Await(size_t bytes) {
    wanted_ += bytes;
    if (count_ < wanted_) loop_.Run();
  }
  void OnBytes(std::string_view bytes) override {
    count_ += bytes.size();
    if (count_ == wanted_) loop_.Stop();
  }
  void OnDrained() override {}
  void OnEnded() override { loop_.Stop(); }

 private:
  loop::EventLoop& loop_;
  size_t count_ = 0, wanted_ = 0;
};

// Sends as fast as the pipe takes it.
class Source final : public Pipe::Receiver {
 public:
  explicit Source(Pipe& pipe) : pipe_(pipe) { pipe_.Start(*this); }
  void Send(size_t bytes) {
    left_ += bytes;
    OnDrained();
  }
  void OnBytes(std::string_view) override {}
  void OnDrained() override {
    while (left_ > 0 && !pipe_.congested()) {
      const size_t size = std::min(left_, piece_.size());
      left_ -= size;
      pipe_.Send(std::string_view(piece_).substr(0, size));
    }
  }
  void OnEnded() override {}

 private:
  Pipe& pipe_;
  const std::string piece_ = std::string(64u << 10, 'x');
  size_t left_ = 0;
};

void EchoOfSixteenBytes(benchmark::State& state) {
  Pair pair;
  Echo echo(*pair.executor);
  Counter counter(pair.loop, *pair.client);
  const std::string text(16, 'x');
  std::vector<double> times_us;
  for (auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    pair.client->Send(text);
    counter.Await(text.size());
    times_us.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  std::ranges::sort(times_us);
  state.counters["p10_us"] = times_us[times_us.size() / 10];
  state.counters["p50_us"] = times_us[times_us.size() / 2];
  state.counters["p90_us"] = times_us[times_us.size() * 9 / 10];
}
BENCHMARK(EchoOfSixteenBytes)->UseRealTime()->Unit(benchmark::kMicrosecond);

void Stream(benchmark::State& state) {
  constexpr size_t kBytes = 64u << 20;
  Pair pair;
  Source source(*pair.executor);
  Counter counter(pair.loop, *pair.client);
  for (auto _ : state) {
    source.Send(kBytes);
    counter.Await(kBytes);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * kBytes));
}
BENCHMARK(Stream)->UseRealTime()->Unit(benchmark::kMillisecond);

double ResidentKib() {
  size_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1024;
}

// The time of a thousand joins, one after the other, and the memory of both ends of a pipe without traffic.
void JoinThousandPipes(benchmark::State& state) {
  constexpr int kPipes = 1000;
  Pair pair;
  const double before = ResidentKib();
  for (auto _ : state) pair.JoinMore(kPipes);
  state.counters["KiB_per_pipe"] = (ResidentKib() - before) / kPipes;
}
BENCHMARK(JoinThousandPipes)->Iterations(1)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace holdfast::rendezvous
