// These benchmarks measure what a relay costs, beside a socket that connects both ends directly: the time of an echo,
// the throughput of long frames, and the memory of pairs that are idle. The relay runs on a thread of its own.
#include <arpa/inet.h>
#include <fcntl.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/socket.h>

#include <algorithm>
#include <ctime>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/check.h"
#include "base/owned_fd.h"
#include "loop/event_loop.h"
#include "rendezvous/relay/leg.h"
#include "rendezvous/relay/splice.h"
#include "transport/plain_stream.h"
#include "transport/web_socket_frames.h"

namespace holdfast::rendezvous {
namespace {

struct Sockets {
  OwnedFd near, far;
};

Sockets ConnectSockets() {
  const OwnedFd listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  socklen_t size = sizeof(address);
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  CHECK(::bind(listening.get(), raw, size) == 0 && ::listen(listening.get(), 1) == 0);
  CHECK(::getsockname(listening.get(), raw, &size) == 0);
  Sockets sockets{.near = OwnedFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), .far = {}};
  CHECK(::connect(sockets.near.get(), raw, size) == 0);
  sockets.far = OwnedFd(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
  const int on = 1;
  for (const int fd : {sockets.near.get(), sockets.far.get()}) {
    CHECK(::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) == 0);
  }
  return sockets;
}

// Returns false if the peer is gone.
bool Send(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

void Receive(int fd, size_t count) {
  static thread_local std::vector<char> buffer(256u << 10);
  while (count > 0) {
    const ssize_t got = ::recv(fd, buffer.data(), std::min(count, buffer.size()), 0);
    CHECK(got > 0);
    count -= static_cast<size_t>(got);
  }
}

void ReceiveAnswer(int fd) {
  std::string answer;
  while (!answer.ends_with("\r\n\r\n")) {
    char byte;
    CHECK(::recv(fd, &byte, 1, 0) == 1);
    answer.push_back(byte);
  }
}

// A client and an executor, which are connected directly or through the relay.
struct Pair {
  OwnedFd client, executor;
};

class Relay {
 public:
  ~Relay() {
    loop_.Post([this] { splices_.clear(); });
    loop_.Post([this] { loop_.Stop(); });
    thread_.join();
  }

  // Returns the processor time that the relay has used.
  double cpu_seconds() {
    clockid_t clock;
    timespec time{};
    CHECK(::pthread_getcpuclockid(thread_.native_handle(), &clock) == 0 && ::clock_gettime(clock, &time) == 0);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
  }

  Pair Join() {
    Sockets client = ConnectSockets(), executor = ConnectSockets();
    std::promise<void> joined;
    loop_.Post([&] {
      splices_.push_back(
          std::make_unique<Splice>(MakeLeg(std::move(client.far)), MakeLeg(std::move(executor.far)), [] {}));
      joined.set_value();
    });
    joined.get_future().wait();
    ReceiveAnswer(client.near.get());
    ReceiveAnswer(executor.near.get());
    return {std::move(client.near), std::move(executor.near)};
  }

 private:
  std::shared_ptr<Leg> MakeLeg(OwnedFd socket) {
    CHECK(::fcntl(socket.get(), F_SETFL, O_NONBLOCK) == 0);
    return Leg::Accept(loop_,
                       {.stream = std::make_unique<transport::PlainStream>(std::move(socket)),
                        .peer = "",
                        .key = "dGhlIHNhbXBsZSBub25jZQ==",
                        .early_input = "",
                        .slot = nullptr},
                       {}, [] {});
  }

  loop::EventLoop loop_;
  std::vector<std::unique_ptr<Splice>> splices_;
  std::thread thread_{[this] { loop_.Run(); }};
};

enum Way { kDirect, kRelayed };

// The ends of a conversation, and the relay between them if there is one.
class Conversation {
 public:
  explicit Conversation(const benchmark::State& state) {
    if (state.range(0) == kRelayed) {
      pair_ = relay_.emplace().Join();
    } else {
      Sockets sockets = ConnectSockets();
      pair_ = {std::move(sockets.near), std::move(sockets.far)};
    }
  }

  // Reports the processor time of the relay for each iteration.
  void Report(benchmark::State& state) {
    if (!relay_) return;
    state.counters["relay_cpu"] = benchmark::Counter(relay_->cpu_seconds(), benchmark::Counter::kAvgIterations);
  }

  int client() const { return pair_.client.get(); }
  int executor() const { return pair_.executor.get(); }

 private:
  std::optional<Relay> relay_;
  Pair pair_;
};

std::string MaskedFrame(size_t payload) {
  const transport::FrameMask mask{'\x12', '\x34', '\x56', '\x78'};
  return transport::FrameHeader(transport::Opcode::kText, transport::Fragment::kLast, payload, mask) +
         std::string(payload, 'x');
}

size_t UnmaskedBytes(const benchmark::State& state, const std::string& frame) {
  return state.range(0) == kRelayed ? frame.size() - sizeof(transport::FrameMask) : frame.size();
}

// One iteration is a frame to the executor and one back.
void BM_Echo(benchmark::State& state) {
  Conversation conversation(state);
  const std::string frame = MaskedFrame(16);
  const size_t arriving = UnmaskedBytes(state, frame);
  for (auto _ : state) {
    Send(conversation.client(), frame);
    Receive(conversation.executor(), arriving);
    Send(conversation.executor(), frame);
    Receive(conversation.client(), arriving);
  }
  conversation.Report(state);
}
BENCHMARK(BM_Echo)->ArgName("relayed")->Arg(kDirect)->Arg(kRelayed)->UseRealTime();

// One iteration is 16 frames of 64 KiB to the executor.
void BM_Throughput(benchmark::State& state) {
  Conversation conversation(state);
  const std::string frame = MaskedFrame(64u << 10);
  const size_t arriving = 16 * UnmaskedBytes(state, frame);
  std::thread writer([&] {
    while (Send(conversation.client(), frame)) continue;
  });
  for (auto _ : state) Receive(conversation.executor(), arriving);
  conversation.Report(state);
  state.SetBytesProcessed(state.iterations() * (1 << 20));
  ::shutdown(conversation.client(), SHUT_RDWR);
  writer.join();
}
BENCHMARK(BM_Throughput)->ArgName("relayed")->Arg(kDirect)->Arg(kRelayed)->UseRealTime()->MinTime(2);

// One iteration makes a pair and echoes one frame through it. The counter is what the heap holds for each idle pair.
void BM_IdlePairs(benchmark::State& state) {
  constexpr int kPairs = 500;
  const std::string frame = MaskedFrame(16);
  for (auto _ : state) {
    Relay relay;
    std::vector<Pair> pairs;
    pairs.reserve(kPairs);
    relay.Join();  // the first pair allocates what all of them share
    const size_t before = ::mallinfo2().uordblks;
    for (int i = 0; i < kPairs; ++i) {
      pairs.push_back(relay.Join());
      Send(pairs.back().client.get(), frame);
      Receive(pairs.back().executor.get(), frame.size() - sizeof(transport::FrameMask));
    }
    state.counters["heap_bytes_per_pair"] = static_cast<double>(::mallinfo2().uordblks - before) / kPairs;
  }
}
BENCHMARK(BM_IdlePairs)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace holdfast::rendezvous
