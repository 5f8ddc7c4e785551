#include "transport/lines_connection.h"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/check.h"
#include "transport/hang_up_watch.h"
#include "transport/inbound_room.h"
#include "transport/line_splitter.h"
#include "transport/outbox.h"
#include "transport/plain_stream.h"
#include "transport/turn_task.h"

namespace holdfast::transport {
namespace {

constexpr size_t kReadBytes = 64u << 10;

// This class makes a borrowed descriptor non-blocking and restores its flags later. O_NONBLOCK belongs to the open
// file, which other processes share: the shell that started the server must find its terminal as it left it.
class BorrowedNonBlocking {
 public:
  explicit BorrowedNonBlocking(int fd) : fd_(fd), flags_(::fcntl(fd, F_GETFL)) {
    if (flags_ >= 0) ::fcntl(fd_, F_SETFL, flags_ | O_NONBLOCK);
  }
  ~BorrowedNonBlocking() {
    if (flags_ >= 0) ::fcntl(fd_, F_SETFL, flags_);
  }
  BorrowedNonBlocking(const BorrowedNonBlocking&) = delete;
  BorrowedNonBlocking& operator=(const BorrowedNonBlocking&) = delete;

 private:
  const int fd_;
  const int flags_;
};

// No callback of the receiver runs inside a call that the receiver makes.
class LinesConnection final : public rpc::Transport,
                              public Outbox::Owner,
                              public std::enable_shared_from_this<LinesConnection> {
 public:
  LinesConnection(loop::EventLoop& loop, LinesStreams streams, const Limits& limits);

  void MakeNonBlocking();

  void Start(rpc::Receiver& receiver) override;
  void Send(std::string message) override;
  bool congested() const override { return outbox_.congested(); }
  void SetReading(rpc::Reading reading) override;
  void Close() override;
  void Abort() override {
    loop_.Post([self = shared_from_this()] { self->Finish(); });
  }
  loop::Task<rpc::Presence> Probe(std::chrono::milliseconds patience) override;
  std::string_view peer() const override { return peer_; }

 private:
  enum class State { kOpen, kClosing, kClosed };

  void WatchWritable() override;
  void OnFlushed(Outbox::Progress progress) override;
  void OnWriteFailed() override { Finish(); }

  ByteStream& out() { return separate_out_ ? *separate_out_ : *in_; }
  bool delivers() const { return state_ == State::kOpen && reading_ == rpc::Reading::kOn; }
  void OnReadable();
  void OnEndOfInput();
  void OnRestOfInput(ssize_t count);
  void OnEverythingSent();
  void Continue();
  bool HasRoomToRead();
  void OnRoom(const Result<>& room);
  void Finish();

  const std::unique_ptr<ByteStream> in_;
  const std::unique_ptr<ByteStream> separate_out_;
  const std::string peer_;
  const Limits limits_;
  const Goodbye goodbye_;
  std::shared_ptr<const void> kept_until_closed_;
  std::optional<BorrowedNonBlocking> in_flags_;
  std::optional<BorrowedNonBlocking> out_flags_;
  loop::EventLoop& loop_;
  rpc::Receiver* receiver_ = nullptr;
  State state_ = State::kOpen;
  rpc::Reading reading_ = rpc::Reading::kOn;
  bool read_armed_ = false;
  bool input_ended_ = false;
  bool said_goodbye_ = false;

  InboundRoom room_;  // the memory of splitter_
  LineSplitter splitter_;
  Outbox outbox_;
  std::optional<loop::FdWatch> in_watch_;  // also watches for writes if there is one stream
  std::optional<loop::FdWatch> out_watch_;
  TurnTask continue_;
  TurnTask everything_sent_;
  loop::Timer close_timer_;
  HangUpWatch hang_up_;  // runs while reading is off or waits for room
};

LinesConnection::LinesConnection(loop::EventLoop& loop, LinesStreams streams, const Limits& limits)
    : in_(std::move(streams.in)),
      separate_out_(std::move(streams.separate_out)),
      peer_(std::move(streams.peer)),
      limits_(limits),
      goodbye_(streams.goodbye),
      kept_until_closed_(std::move(streams.kept_until_closed)),
      loop_(loop),
      room_(limits.budget, [this] { Close(); }),
      splitter_(limits.max_message_bytes, streams.long_lines),
      outbox_(loop, out(), {limits.high_water_bytes, limits.low_water_bytes}, *this),
      continue_(loop, [this] { Continue(); }),
      everything_sent_(loop, [this] { OnEverythingSent(); }),
      close_timer_(loop, [this] { Finish(); }),
      hang_up_(loop, in_->fd(), HangUpWatch::Sign::kBothSides, [this] { Finish(); }) {
  CHECK(in_->transparent() && out().transparent());  // a stream with bytes of its own would not wake the watches
  splitter_.Append(streams.early_input);
  in_watch_.emplace(loop, in_->fd(), [this] { OnReadable(); }, [this] { outbox_.Flush(); });
  if (separate_out_) out_watch_.emplace(loop, out().fd(), loop::Callback(), [this] { outbox_.Flush(); });
}

void LinesConnection::MakeNonBlocking() {
  in_flags_.emplace(in_->fd());
  out_flags_.emplace(out().fd());
}

void LinesConnection::Start(rpc::Receiver& receiver) {
  receiver_ = &receiver;
  if (state_ == State::kClosed) return loop_.Post([self = shared_from_this()] { self->receiver_->OnClosed(); });
  continue_.Schedule();
}

void LinesConnection::Send(std::string message) {
  if (state_ != State::kOpen) return;
  outbox_.Append(std::move(message));
  outbox_.AppendCopy("\n");
}

void LinesConnection::SetReading(rpc::Reading reading) {
  reading_ = reading;
  if (reading == rpc::Reading::kOff) return hang_up_.Start();
  if (room_.waiting()) return;
  hang_up_.Stop();
  continue_.Schedule();
}

// Sends what is queued. The connection ends when everything is sent, or when close_timeout is over.
void LinesConnection::Close() {
  if (state_ != State::kOpen) return;
  state_ = State::kClosing;
  close_timer_.Start(limits_.close_timeout);
  if (outbox_.empty()) everything_sent_.Schedule();
}

// A line that asks would be a message of the protocol. The other end is a process on this machine, and the kernel
// closes its streams when it ends.
loop::Task<rpc::Presence> LinesConnection::Probe(std::chrono::milliseconds) {
  const bool is_there = state_ == State::kOpen && !hang_up_.hung_up();
  co_return is_there ? rpc::Presence::kAnswers : rpc::Presence::kSilent;
}

void LinesConnection::OnEverythingSent() {
  if (state_ != State::kClosing || std::exchange(said_goodbye_, true)) return;
  if (goodbye_ == Goodbye::kAtOnce || input_ended_) return Finish();
  out().EndWriting();
  if (!std::exchange(read_armed_, true)) in_watch_->WatchReadable();
}

void LinesConnection::WatchWritable() { (out_watch_ ? *out_watch_ : *in_watch_).WatchWritable(); }

void LinesConnection::OnFlushed(Outbox::Progress progress) {
  if (state_ == State::kClosing && outbox_.empty()) return OnEverythingSent();
  if (progress == Outbox::Progress::kDrained && state_ == State::kOpen && receiver_ != nullptr) receiver_->OnDrained();
}

void LinesConnection::OnReadable() {
  read_armed_ = false;
  if (!delivers() && !said_goodbye_) return;
  std::array<char, kReadBytes> chunk;
  const ssize_t count = in_->Read(chunk);
  if (said_goodbye_) return OnRestOfInput(count);
  if (count > 0) splitter_.Append(std::string_view(chunk.data(), static_cast<size_t>(count)));
  if (count > 0 || (count < 0 && errno == EAGAIN)) return Continue();
  OnEndOfInput();
}

// Discards what the peer sends after our goodbye, until its end.
void LinesConnection::OnRestOfInput(ssize_t count) {
  if (count == 0 || (count < 0 && errno != EAGAIN)) return Finish();
  read_armed_ = true;
  in_watch_->WatchReadable();
}

// The connection reads only after it has delivered every complete line, so at most an unfinished last line is left
// here. A read that fails ends the input as well, and what came before it is still valid.
void LinesConnection::OnEndOfInput() {
  const auto self = shared_from_this();
  input_ended_ = true;
  if (const auto line = splitter_.Last()) receiver_->OnMessage(*line);
  Close();
}

void LinesConnection::Continue() {
  const auto self = shared_from_this();
  while (delivers()) {
    const auto line = splitter_.Next();
    if (!line) break;
    receiver_->OnMessage(*line);
  }
  if (splitter_.overlong()) return Close();
  if (!delivers() || read_armed_ || !HasRoomToRead()) return;
  read_armed_ = true;
  in_watch_->WatchReadable();
}

bool LinesConnection::HasRoomToRead() {
  if (room_.waiting()) return false;
  const size_t wanted = splitter_.GrownSize(kReadBytes);
  if (wanted <= InboundRoom::kFreeBytes) room_.Release();
  const bool has_room = room_.Ask(wanted, [this](const Result<>& room) { OnRoom(room); });
  if (room_.waiting()) hang_up_.Start();
  return has_room;
}

void LinesConnection::OnRoom(const Result<>& room) {
  if (!room) return Close();
  if (reading_ == rpc::Reading::kOff) return;
  hang_up_.Stop();
  continue_.Schedule();
}

void LinesConnection::Finish() {
  if (std::exchange(state_, State::kClosed) == State::kClosed) return;
  const auto self = shared_from_this();  // the receiver may drop its reference
  outbox_.Shut();
  close_timer_.Stop();
  hang_up_.Stop();
  in_watch_.reset();
  out_watch_.reset();
  // The flags are restored in reverse order: if both descriptors are one open file, the flags that were read first are
  // the original ones.
  out_flags_.reset();
  in_flags_.reset();
  in_->Close();
  if (separate_out_) separate_out_->Close();
  kept_until_closed_.reset();
  if (receiver_ != nullptr) receiver_->OnClosed();
}

}  // namespace

std::shared_ptr<rpc::Transport> ExchangeLines(loop::EventLoop& loop, LinesStreams streams, const Limits& limits) {
  return std::make_shared<LinesConnection>(loop, std::move(streams), limits);
}

std::shared_ptr<rpc::Transport> ServeLines(loop::EventLoop& loop, int in_fd, int out_fd, const Limits& limits) {
  return ServeLines(loop, in_fd, out_fd, limits, LongLines::kEnd);
}

std::shared_ptr<rpc::Transport> ServeLines(loop::EventLoop& loop, int in_fd, int out_fd, const Limits& limits,
                                           LongLines long_lines) {
  LinesStreams streams{.in = PlainStream::Borrow(in_fd), .peer = "stdio", .long_lines = long_lines};
  if (out_fd != in_fd) streams.separate_out = PlainStream::Borrow(out_fd);
  auto connection = std::make_shared<LinesConnection>(loop, std::move(streams), limits);
  connection->MakeNonBlocking();
  return connection;
}

}  // namespace holdfast::transport
