#include "rendezvous/relay/leg.h"

#include <array>
#include <cerrno>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "rendezvous/relay/frame_cursor.h"
#include "rendezvous/relay/frame_rewriter.h"
#include "rendezvous/relay/leg_life.h"
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
  bool congested() const override { return life_.congested(); }
  bool has_sent_message() const override { return is_link() || outbound_.has_passed_message(); }
  void SetReading(Reading reading) override;
  void Close() override;
  void Cut() override { EndLater(); }

 private:
  bool is_link() const { return kind_ == Kind::kLink; }
  bool reads() const { return life_.reads() && (receiver_ != nullptr || !life_.joined()); }
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
  LegLife life_;

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
      life_(kind == Kind::kLink ? LegLife::State::kJoined : LegLife::State::kWaiting,
            {.high = limits.high_water_bytes, .low = limits.low_water_bytes}),
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
        life_.OnWritable();
        Flush();
      });
  if (is_link()) return;
  ping_timer_.Start(limits.ping_interval);
  Write(transport::UpgradeAnswer(socket_.key));
  turn_.Schedule();
}

void SocketLeg::Start(Receiver& receiver) {
  receiver_ = &receiver;
  if (!life_.Join()) return TellLater();
  on_ended_ = nullptr;
  ping_timer_.Stop();
  turn_.Schedule();
}

// Writes to the socket at once, and queues only what it does not accept.
void SocketLeg::Send(std::string_view bytes) {
  if (!life_.joined() || outbound_.closed()) return;
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
  life_.OnQueued(queue_.size());
  AwaitWritable();
}

void SocketLeg::AwaitWritable() {
  if (life_.ArmWrite()) watch_->WatchWritable();
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
    if (life_.OnSent(queue_.size()) && receiver_ != nullptr && life_.joined()) receiver_->OnDrained();
  } while (!queue_.empty() && !life_.ended());
  if (!life_.ended()) EndWritingOnceSent();
}

void SocketLeg::SetReading(Reading reading) {
  life_.SetReading(reading);
  if (!life_.joined()) return;
  if (reading == Reading::kOff) return hang_up_.Start();
  hang_up_.Stop();
  turn_.Schedule();
}

// Delivers what came before the leg was joined, and then reads.
void SocketLeg::OnTurn() {
  const auto self = shared_from_this();
  if (life_.state() == LegLife::State::kFailed) return End();
  if (life_.joined() && reads()) {
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
  if (!life_.read_armed()) ReadSome();
}

void SocketLeg::OnReadable() {
  const auto self = shared_from_this();
  life_.OnReadable();
  ReadSome();
}

// A stream that is not transparent may hold more bytes than its descriptor tells of, so it is read again in another
// turn.
void SocketLeg::ReadSome() {
  if (!reads()) return;
  const auto buffer = SharedReadBuffer();
  const ssize_t count = socket_.stream->Read(buffer);
  if (count == 0 || (count < 0 && errno != EAGAIN)) return End();
  if (socket_.stream->has_unsent()) AwaitWritable();
  if (count < 0) return AwaitInput();
  Take(buffer.first(static_cast<size_t>(count)));
  socket_.stream->transparent() ? AwaitInput() : turn_.Schedule();
}

void SocketLeg::AwaitInput() {
  if (reads() && life_.ArmRead()) watch_->WatchReadable();
}

void SocketLeg::Take(std::span<char> piece) {
  if (life_.over()) return;
  if (is_link()) return receiver_->OnBytes({piece.data(), piece.size()});
  const std::string_view frames = inbound_.Rewrite(piece);
  if (!frames.empty()) life_.waiting() ? TakeWaiting(frames) : TakeJoined(frames);
  if (inbound_.failure() && !life_.over()) {
    BreakOff(inbound_.failure()->kind == ErrorKind::kLimit ? CloseCode::kTooBig : CloseCode::kProtocolError);
  }
}

void SocketLeg::TakeWaiting(std::string_view frames) {
  std::string reply;
  const auto outcome = waiting_.Add(frames, reply);
  if (waiting_.TakePong()) life_.OnPong();
  if (!reply.empty()) Write(reply);
  if (congested()) return EndLater();  // the peer sends pings without end, and reads no answers
  if (outcome == WaitingFrames::Outcome::kClosed) SayGoodbye();
  if (outcome == WaitingFrames::Outcome::kData) BreakOff(CloseCode::kProtocolError);
}

void SocketLeg::TakeJoined(std::string_view frames) {
  receiver_->OnBytes(frames);
  if (life_.joined() && inbound_.closed()) OnCloseFrames();
}

void SocketLeg::Ping() {
  if (!life_.OnPingTime()) return End();
  Write(PingFrame());
  ping_timer_.Start(limits_.ping_interval);
}

// A Close frame has passed in one direction or in both. After both, the server is the one that ends the connection.
void SocketLeg::OnCloseFrames() {
  if (!close_timer_.running()) close_timer_.Start(limits_.close_timeout);
  if (!inbound_.closed() || !outbound_.closed()) return;
  life_.CloseBehindQueue();
  EndWritingOnceSent();
}

void SocketLeg::EndWritingOnceSent() {
  if (life_.TakeEndOfWriting(queue_.size())) socket_.stream->EndWriting();
}

// Closes the connection because its peer breaks the rules.
void SocketLeg::BreakOff(CloseCode code) {
  if (may_say_close()) Write(CloseFrame(code));
  SayGoodbye();
}

void SocketLeg::Close() {
  receiver_ = nullptr;
  if (life_.waiting()) on_ended_ = nullptr;
  if (life_.over()) return;
  if (may_say_close()) Write(CloseFrame(CloseCode::kGoingAway));
  SayGoodbye();
}

// The loop holds the leg until the goodbye is over, because its owner may have dropped it. The owner is told in
// the next turn of the loop.
void SocketLeg::SayGoodbye() {
  (void)life_.SayGoodbye();  // the callers have looked
  ping_timer_.Stop();
  hang_up_.Stop();
  close_timer_.Start(limits_.close_timeout);
  transport::HoldFor(loop_, limits_.close_timeout * 2, shared_from_this());
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
  if (life_.Fail()) turn_.Schedule();
}

void SocketLeg::End() {
  if (!life_.End()) return;
  const auto self = shared_from_this();  // the owner may drop its reference
  ping_timer_.Stop();
  close_timer_.Stop();
  hang_up_.Stop();
  peer_watch_.Stop();
  watch_.reset();
  queue_.Clear();
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
