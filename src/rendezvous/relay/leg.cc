#include "rendezvous/relay/leg.h"

#include <array>
#include <cerrno>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "rendezvous/relay/frame_cursor.h"
#include "rendezvous/relay/frame_rewriter.h"
#include "rendezvous/relay/waiting_frames.h"
#include "transport/hang_up_watch.h"
#include "transport/hold_for.h"
#include "transport/outbound_queue.h"
#include "transport/peer_watch.h"
#include "transport/socket_address.h"
#include "transport/turn_task.h"
#include "transport/web_socket_accept.h"

namespace holdfast::rendezvous {
namespace {

constexpr size_t kReadBytes = 128u << 10;
constexpr size_t kVectorsPerWrite = 64;

// Returns the memory that every leg of this thread, and so of one loop, reads into. A leg passes on what it has read
// before another leg reads.
std::span<char> SharedReadBuffer() {
  constexpr size_t kBytes = FrameRewriter::kHeadroomBytes + kReadBytes;
  thread_local const auto buffer = std::make_unique_for_overwrite<char[]>(kBytes);
  return std::span(buffer.get(), kBytes).subspan(FrameRewriter::kHeadroomBytes);
}

// No callback of the receiver runs inside a call that the receiver makes: reads, the flush of the queue and the end
// happen in turns of their own.
class SocketLeg final : public Leg, public std::enable_shared_from_this<SocketLeg> {
 public:
  enum class Kind { kWebSocket, kLink };

  SocketLeg(loop::EventLoop& loop, Kind kind, transport::UpgradedSocket socket, const LegLimits& limits,
            std::function<void()> on_ended);

  void Start(Receiver& receiver) override;
  void Send(std::string_view bytes) override;
  bool congested() const override { return congested_; }
  bool has_sent_message() const override { return is_link() || outbound_.has_passed_message(); }
  void SetReading(Reading reading) override;
  void Close() override;
  void Cut() override { EndLater(); }

 private:
  // kGoodbye: the receiver has closed the leg, or the leg has broken off the conversation. What is queued is sent, and
  // then the end of the peer is awaited.
  enum class State { kWaiting, kJoined, kGoodbye, kEnded };

  bool is_link() const { return kind_ == Kind::kLink; }
  bool reads() const {
    if (state_ == State::kJoined) return receiver_ != nullptr && reading_ == Reading::kOn;
    return state_ == State::kWaiting || state_ == State::kGoodbye;
  }
  bool may_say_close() const { return !is_link() && outbound_.between_frames() && !outbound_.closed(); }
  void OnTurn();
  void OnReadable();
  void ReadSome();
  void AwaitInput();
  void Take(std::span<char> piece);
  void TakeWaiting(std::string_view frames);
  void TakeJoined(std::string_view frames);
  void Write(std::string_view bytes);
  void Flush();
  void AwaitWritable();
  void Ping();
  void OnCloseFrames();
  void EndWritingOnceSent();
  void BreakOff(CloseCode code);
  void SayGoodbye();
  void TellLater();
  void Tell();
  void EndLater();
  void End();

  loop::EventLoop& loop_;
  const Kind kind_;
  const LegLimits limits_;
  transport::UpgradedSocket socket_;
  std::function<void()> on_ended_;
  Receiver* receiver_ = nullptr;
  State state_ = State::kWaiting;
  Reading reading_ = Reading::kOn;
  bool read_armed_ = false;
  bool write_armed_ = false;
  bool congested_ = false;
  bool failed_ = false;            // the leg ends at its next turn
  bool closes_when_sent_ = false;  // nothing more is written after the queue
  bool wrote_end_ = false;
  bool awaits_pong_ = false;

  // Of a WebSocket.
  FrameRewriter inbound_;
  WaitingFrames waiting_;
  FrameCursor outbound_;

  transport::OutboundQueue queue_;  // what the socket did not accept at once
  std::optional<loop::FdWatch> watch_;
  transport::TurnTask turn_;
  loop::Timer ping_timer_;
  loop::Timer close_timer_;
  transport::HangUpWatch hang_up_;  // runs while reading is off
  transport::PeerWatch peer_watch_;
};

SocketLeg::SocketLeg(loop::EventLoop& loop, Kind kind, transport::UpgradedSocket socket, const LegLimits& limits,
                     std::function<void()> on_ended)
    : loop_(loop),
      kind_(kind),
      limits_(limits),
      socket_(std::move(socket)),
      on_ended_(std::move(on_ended)),
      inbound_(limits.max_frame_bytes),
      turn_(loop, [this] { OnTurn(); }),
      ping_timer_(loop, [this] { Ping(); }),
      close_timer_(loop, [this] { End(); }),
      hang_up_(loop, socket_.stream->fd(), transport::HangUpWatch::Sign::kBothSides, [this] { End(); }),
      peer_watch_(loop, socket_.stream->fd(), [this] { End(); }) {
  transport::SetNoDelay(socket_.stream->fd());
  watch_.emplace(
      loop, socket_.stream->fd(), [this] { OnReadable(); },
      [this] {
        write_armed_ = false;
        Flush();
      });
  if (is_link()) {
    state_ = State::kJoined;
    return;
  }
  ping_timer_.Start(limits.ping_interval);
  Write(transport::UpgradeAnswer(socket_.key));
  turn_.Schedule();
}

void SocketLeg::Start(Receiver& receiver) {
  receiver_ = &receiver;
  if (state_ == State::kGoodbye || state_ == State::kEnded) return TellLater();
  state_ = State::kJoined;
  on_ended_ = nullptr;
  ping_timer_.Stop();
  turn_.Schedule();
}

// Writes to the socket at once, and queues only what it does not accept.
void SocketLeg::Send(std::string_view bytes) {
  if (state_ != State::kJoined || failed_ || outbound_.closed()) return;
  if (is_link()) return Write(bytes);
  outbound_.Advance(bytes);
  Write(bytes);
  if (outbound_.closed()) OnCloseFrames();
}

void SocketLeg::Write(std::string_view bytes) {
  while (queue_.empty() && !bytes.empty()) {
    const iovec vector{const_cast<char*>(bytes.data()), bytes.size()};  // a write only reads from it
    const ssize_t count = socket_.stream->Write(std::span(&vector, 1));
    if (count < 0 && errno != EAGAIN) return EndLater();
    if (count < 0) break;
    peer_watch_.OnWritten();
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  if (bytes.empty()) return;
  queue_.AppendCopy(bytes);
  congested_ = congested_ || queue_.size() >= limits_.high_water_bytes;
  AwaitWritable();
}

void SocketLeg::AwaitWritable() {
  if (!std::exchange(write_armed_, true)) watch_->WatchWritable();
}

void SocketLeg::Flush() {
  const auto self = shared_from_this();
  do {
    std::array<iovec, kVectorsPerWrite> storage;
    const ssize_t count = socket_.stream->Write(queue_.Gather(storage));
    if (count < 0 && errno == EAGAIN) return AwaitWritable();
    if (count < 0) return End();
    peer_watch_.OnWritten();
    queue_.Consume(static_cast<size_t>(count));
    if (congested_ && queue_.size() < limits_.low_water_bytes) {
      congested_ = false;
      if (receiver_ != nullptr && state_ == State::kJoined) receiver_->OnDrained();
    }
  } while (!queue_.empty() && state_ != State::kEnded);
  if (state_ != State::kEnded) EndWritingOnceSent();
}

void SocketLeg::SetReading(Reading reading) {
  reading_ = reading;
  if (state_ != State::kJoined) return;
  if (reading == Reading::kOff) return hang_up_.Start();
  hang_up_.Stop();
  turn_.Schedule();
}

// Delivers what came before the leg was joined, and then reads.
void SocketLeg::OnTurn() {
  const auto self = shared_from_this();
  if (failed_) return End();
  if (state_ == State::kJoined && reads()) {
    const std::string rest = waiting_.TakeRest();
    if (!rest.empty()) TakeJoined(rest);
  }
  if (!socket_.early_input.empty() && reads()) {
    const auto buffer = SharedReadBuffer();
    const size_t count = socket_.early_input.copy(buffer.data(), buffer.size());
    socket_.early_input.erase(0, count);
    Take(buffer.first(count));
    return turn_.Schedule();
  }
  if (socket_.stream->transparent()) return AwaitInput();
  if (!read_armed_) ReadSome();
}

void SocketLeg::OnReadable() {
  const auto self = shared_from_this();
  read_armed_ = false;
  ReadSome();
}

// A stream that is not transparent may hold more bytes than its descriptor tells of, so it is read again in another
// turn.
void SocketLeg::ReadSome() {
  if (state_ == State::kEnded || !reads()) return;
  const auto buffer = SharedReadBuffer();
  const ssize_t count = socket_.stream->Read(buffer);
  if (count == 0 || (count < 0 && errno != EAGAIN)) return End();
  if (socket_.stream->has_unsent()) AwaitWritable();
  if (count < 0) return AwaitInput();
  Take(buffer.first(static_cast<size_t>(count)));
  socket_.stream->transparent() ? AwaitInput() : turn_.Schedule();
}

void SocketLeg::AwaitInput() {
  if (state_ == State::kEnded || !reads()) return;
  if (!std::exchange(read_armed_, true)) watch_->WatchReadable();
}

void SocketLeg::Take(std::span<char> piece) {
  if (state_ == State::kEnded || state_ == State::kGoodbye) return;
  if (is_link()) return receiver_->OnBytes({piece.data(), piece.size()});
  const std::string_view frames = inbound_.Rewrite(piece);
  if (!frames.empty()) state_ == State::kWaiting ? TakeWaiting(frames) : TakeJoined(frames);
  if (inbound_.failure() && state_ != State::kEnded && state_ != State::kGoodbye) {
    BreakOff(inbound_.failure()->kind == ErrorKind::kLimit ? CloseCode::kTooBig : CloseCode::kProtocolError);
  }
}

void SocketLeg::TakeWaiting(std::string_view frames) {
  std::string reply;
  const auto outcome = waiting_.Add(frames, reply);
  if (waiting_.TakePong()) awaits_pong_ = false;
  if (!reply.empty()) Write(reply);
  if (congested_) return EndLater();  // the peer sends pings without end, and reads no answers
  if (outcome == WaitingFrames::Outcome::kClosed) SayGoodbye();
  if (outcome == WaitingFrames::Outcome::kData) BreakOff(CloseCode::kProtocolError);
}

void SocketLeg::TakeJoined(std::string_view frames) {
  receiver_->OnBytes(frames);
  if (state_ == State::kJoined && inbound_.closed()) OnCloseFrames();
}

void SocketLeg::Ping() {
  if (std::exchange(awaits_pong_, true)) return End();
  Write(PingFrame());
  ping_timer_.Start(limits_.ping_interval);
}

// A Close frame has passed in one direction or in both. After both, the server is the one that ends the connection.
void SocketLeg::OnCloseFrames() {
  if (!close_timer_.running()) close_timer_.Start(limits_.close_timeout);
  if (!inbound_.closed() || !outbound_.closed()) return;
  closes_when_sent_ = true;
  EndWritingOnceSent();
}

void SocketLeg::EndWritingOnceSent() {
  if (closes_when_sent_ && queue_.empty() && !std::exchange(wrote_end_, true)) socket_.stream->EndWriting();
}

// Closes the connection because its peer breaks the rules.
void SocketLeg::BreakOff(CloseCode code) {
  if (may_say_close()) Write(CloseFrame(code));
  SayGoodbye();
}

void SocketLeg::Close() {
  receiver_ = nullptr;
  if (state_ == State::kWaiting) on_ended_ = nullptr;
  if (state_ == State::kEnded || state_ == State::kGoodbye) return;
  if (may_say_close()) Write(CloseFrame(CloseCode::kGoingAway));
  SayGoodbye();
}

// The loop holds the leg until the goodbye is over, because its owner may have dropped it. The owner is told in
// the next turn of the loop.
void SocketLeg::SayGoodbye() {
  state_ = State::kGoodbye;
  ping_timer_.Stop();
  hang_up_.Stop();
  close_timer_.Start(limits_.close_timeout);
  transport::HoldFor(loop_, limits_.close_timeout * 2, shared_from_this());
  closes_when_sent_ = true;
  EndWritingOnceSent();
  turn_.Schedule();
  TellLater();
}

void SocketLeg::TellLater() {
  if (on_ended_ == nullptr && receiver_ == nullptr) return;
  loop_.Post([self = shared_from_this()] { self->Tell(); });
}

void SocketLeg::Tell() {
  if (auto* told = std::exchange(receiver_, nullptr)) told->OnEnded();
  if (const auto told = std::exchange(on_ended_, nullptr)) told();
}

void SocketLeg::EndLater() {
  failed_ = true;
  turn_.Schedule();
}

void SocketLeg::End() {
  if (std::exchange(state_, State::kEnded) == State::kEnded) return;
  const auto self = shared_from_this();  // the owner may drop its reference
  ping_timer_.Stop();
  close_timer_.Stop();
  hang_up_.Stop();
  peer_watch_.Stop();
  watch_.reset();
  queue_.Clear();
  congested_ = false;
  socket_.stream->Close();
  socket_.slot.reset();
  Tell();
}

}  // namespace

std::shared_ptr<Leg> Leg::Accept(loop::EventLoop& loop, transport::UpgradedSocket socket, const LegLimits& limits,
                                 std::function<void()> on_ended) {
  return std::make_shared<SocketLeg>(loop, SocketLeg::Kind::kWebSocket, std::move(socket), limits, std::move(on_ended));
}

std::shared_ptr<Leg> Leg::Link(loop::EventLoop& loop, transport::UpgradedSocket socket, const LegLimits& limits) {
  return std::make_shared<SocketLeg>(loop, SocketLeg::Kind::kLink, std::move(socket), limits, nullptr);
}

}  // namespace holdfast::rendezvous
