// Whatever a client sends after its upgrade, the connection survives, ends when the client does, and what it sends
// itself is well-formed up to and including its Close frame. The first byte of the input chooses how the receiver
// behaves.
#include <sys/socket.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/check.h"
#include "loop/event_loop.h"
#include "sys/io.h"
#include "transport/plain_stream.h"
#include "transport/web_socket_connection.h"

namespace {

using namespace holdfast;

constexpr size_t kMaxInput = 16u << 10;

enum Behaviour : uint8_t { kClosesAfterAMessage = 1, kPausesAfterEachMessage = 2, kInputIsEarly = 4 };

transport::Limits SmallLimits() {
  transport::Limits limits;
  limits.max_frame_bytes = 1'000;
  limits.max_message_bytes = 2'500;
  limits.outbound_frame_bytes = 300;
  limits.high_water_bytes = 500;
  limits.low_water_bytes = 100;
  return limits;
}

class EchoingReceiver : public rpc::Receiver {
 public:
  EchoingReceiver(loop::EventLoop& loop, uint8_t behaviour) : loop_(loop), behaviour_(behaviour) {}

  void Attach(std::shared_ptr<rpc::Transport> transport) {
    transport_ = std::move(transport);
    transport_->Start(*this);
  }

  void OnMessage(std::string_view message) override {
    CHECK(!paused_);
    transport_->Send(std::string(message));
    if (behaviour_ & kClosesAfterAMessage) transport_->Close();
    if (behaviour_ & kPausesAfterEachMessage) Pause();
  }
  void OnDrained() override { CHECK(!transport_->congested()); }
  void OnClosed() override {
    transport_.reset();
    loop_.Stop();
  }

 private:
  void Pause() {
    paused_ = true;
    transport_->SetReading(rpc::Reading::kOff);
    loop_.Post([this] {
      paused_ = false;
      if (transport_) transport_->SetReading(rpc::Reading::kOn);
    });
  }

  loop::EventLoop& loop_;
  const uint8_t behaviour_;
  std::shared_ptr<rpc::Transport> transport_;
  bool paused_ = false;
};

// Reads everything that the server sends, as it comes. Without a reader a connection that closes would wait for one for
// seconds, since many short frames fill the buffer of a socket.
class Reader {
 public:
  Reader(loop::EventLoop& loop, int fd) : fd_(fd), watch_(loop, fd, [this] { OnReadable(); }) {
    watch_.WatchReadable();
  }

  const std::string& TakeRest() {
    ReadAvailable();
    return bytes_;
  }

 private:
  void OnReadable() {
    if (ReadAvailable()) watch_.WatchReadable();
  }

  // Returns false at the end of the stream.
  bool ReadAvailable() {
    char piece[16u << 10];
    for (;;) {
      const ssize_t count = ::recv(fd_, piece, sizeof piece, MSG_DONTWAIT);
      if (count <= 0) return count < 0;
      bytes_.append(piece, static_cast<size_t>(count));
    }
  }

  const int fd_;
  std::string bytes_;
  loop::FdWatch watch_;
};

// Frames of the server are short here: see outbound_frame_bytes.
size_t FrameBytes(std::string_view bytes) {
  CHECK(bytes.size() >= 2);
  const auto length = static_cast<uint8_t>(bytes[1]);
  CHECK(length <= 126);
  if (length < 126) return 2u + length;
  CHECK(bytes.size() >= 4);
  return 4u + (static_cast<size_t>(static_cast<uint8_t>(bytes[2])) << 8 | static_cast<uint8_t>(bytes[3]));
}

void CheckOutput(std::string_view bytes) {
  CHECK(bytes.starts_with("HTTP/1.1 101 "));
  bytes.remove_prefix(bytes.find("\r\n\r\n") + 4);
  bool closed = false;
  while (!bytes.empty()) {
    CHECK(!closed);
    closed = bytes.front() == '\x88';
    const size_t size = FrameBytes(bytes);
    CHECK(size <= bytes.size());
    bytes.remove_prefix(size);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0 || size > kMaxInput) return 0;
  static loop::EventLoop loop;
  const uint8_t behaviour = data[0];
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);

  int fds[2];
  CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
  const OwnedFd client(fds[0]);
  transport::UpgradedSocket server{.stream = std::make_unique<transport::PlainStream>(OwnedFd(fds[1])),
                                   .peer = "fuzzer",
                                   .key = "dGhlIHNhbXBsZSBub25jZQ==",
                                   .early_input = "",
                                   .slot = nullptr};
  if (behaviour & kInputIsEarly) {
    server.early_input = input;
  } else {
    CHECK(::send(client.get(), input.data(), input.size(), 0) == static_cast<ssize_t>(input.size()));
  }
  ::shutdown(client.get(), SHUT_WR);

  Reader reader(loop, client.get());
  EchoingReceiver receiver(loop, behaviour);
  transport::AcceptWebSocket(loop, std::move(server), SmallLimits(),
                             [&](std::shared_ptr<rpc::Transport> transport) { receiver.Attach(std::move(transport)); });
  loop.Run();
  // Callbacks that were under way when the loop stopped refer to this frame.
  loop.Post([] { loop.Stop(); });
  loop.Run();
  CheckOutput(reader.TakeRest());
  return 0;
}
