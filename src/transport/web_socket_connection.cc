#include "transport/web_socket_connection.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/websocket/stream.hpp>

#include "base/shown_text.h"
#include "base/utf8.h"
#include "transport/gathering_stream.h"
#include "transport/hang_up_watch.h"
#include "transport/inbound_room.h"
#include "transport/message_buffer.h"
#include "transport/outbox.h"
#include "transport/peer_watch.h"
#include "transport/turn_task.h"
#include "transport/web_socket_frames.h"

namespace holdfast::transport {
namespace {

namespace http = boost::beast::http;
namespace websocket = boost::beast::websocket;

constexpr size_t kMaxReasonBytes = 200;  // shown of a refusal
constexpr size_t kMinReadBytes = 4u << 10;
// A read is not longer than this, so that memory grows with what arrives and not with what a frame header announces.
constexpr size_t kMaxReadBytes = 1u << 20;
// A larger buffer is freed after its message, so that an idle connection does not keep the memory of its largest
// message.
constexpr size_t kKeptBufferBytes = 8u << 10;

constexpr std::chrono::milliseconds kShortGoodbye(250);

// The part of a refusal that its reader sees.
constexpr size_t kShownBodyBytes = 4u << 10;

// The upgrade request is rebuilt from its key, the only part of it that the answer depends on.
http::request<http::empty_body> UpgradeRequest(const std::string& key) {
  http::request<http::empty_body> request(http::verb::get, "/", 11);
  request.set(http::field::host, "localhost");
  request.set(http::field::connection, "upgrade");
  request.set(http::field::upgrade, "websocket");
  request.set(http::field::sec_websocket_version, "13");
  request.set(http::field::sec_websocket_key, key);
  return request;
}

// Returns why a server has not upgraded the connection.
Error UpgradeError(std::string_view peer, error_code error, const websocket::response_type& answer) {
  if (error == websocket::error::upgrade_declined) {
    const std::string_view reason(answer.reason().data(), answer.reason().size());
    return {ErrorKind::kPermissionDenied, fmt::format("the server at {} refused the WebSocket: {} {}", peer,
                                                      answer.result_int(), ShownExcerpt(reason, kMaxReasonBytes))};
  }
  const bool is_other_protocol = error.category() == make_error_code(websocket::error::closed).category() ||
                                 (error.category() == make_error_code(http::error::end_of_stream).category() &&
                                  error != http::error::end_of_stream && error != http::error::partial_message);
  if (is_other_protocol) {
    return {ErrorKind::kInvalidRequest,
            fmt::format("the server at {} does not speak WebSocket: {}", peer, error.message())};
  }
  return {ErrorKind::kDisconnected,
          fmt::format("the server at {} closed the connection before it answered the upgrade", peer)};
}

// Pending operations hold a reference, so the object outlives them. No callback of the receiver runs inside a call that
// the receiver makes: writes happen in turns of their own and Beast completes nothing inline.
class WebSocketConnection final : public rpc::Transport,
                                  public Outbox::Owner,
                                  public std::enable_shared_from_this<WebSocketConnection> {
 public:
  WebSocketConnection(loop::EventLoop& loop, Role role, UpgradedSocket socket, const Limits& limits);

  void Accept(const std::string& key, OnConnection on_connection);

  // Asks the peer for an upgrade. `on_answer` runs once, unless AbandonUpgrade comes first.
  using OnAnswer = std::move_only_function<void(Result<>)>;
  void Request(const ServerStream& server, OnAnswer on_answer);
  void AbandonUpgrade();

  void Start(rpc::Receiver& receiver) override;
  void Send(std::string message) override;
  bool congested() const override { return outbox_.congested(); }
  void SetReading(rpc::Reading reading) override;
  void Close() override { StartClosing(websocket::close_code::going_away); }
  void Abort() override {
    loop_.Post([self = shared_from_this()] { self->Finish(); });
  }
  loop::Task<rpc::Presence> Probe(std::chrono::milliseconds patience) override;
  std::string_view peer() const override { return peer_; }

 private:
  enum class State { kOpening, kOpen, kClosing, kClosed };

  void OnUpgradeAnswer(error_code error);
  void WatchWritable() override;
  void OnFlushed(Outbox::Progress progress) override;
  void OnWriteFailed() override { Finish(); }

  void Read();
  void OnRead(error_code error, size_t count);
  void Continue();
  void Deliver();
  bool PrepareBuffer();
  void OnRoom(const Result<>& room);
  void GiveUpMessage();
  void Ping();
  void StartClosing(websocket::close_code code);
  void OnCloseFrame();
  void OnSign();
  void Finish();

  GatheringStream& stream() { return beast_.next_layer(); }

  loop::EventLoop& loop_;
  const Limits limits_;
  const std::string peer_;
  Slot slot_;
  rpc::Receiver* receiver_ = nullptr;
  State state_ = State::kOpening;

  const std::unique_ptr<ByteStream> bytes_;
  Outbox outbox_;
  FrameWriter frames_;
  websocket::stream<GatheringStream, /*deflateSupported=*/false> beast_;
  OnAnswer on_answer_;
  OnRefused on_refused_;
  websocket::response_type answer_;  // to the request for an upgrade
  TurnTask continue_;
  loop::Timer ping_timer_;
  loop::Timer close_timer_;
  HangUpWatch hang_up_;  // runs while reading is off or waits for room
  PeerWatch peer_watch_;

  InboundRoom room_;      // the memory of buffer_
  MessageBuffer buffer_;  // the message that is arriving or, with message_held_, has arrived
  size_t message_bytes_ = 0;
  bool message_held_ = false;  // the message in buffer_ is complete but not delivered
  bool read_pending_ = false;
  rpc::Reading reading_ = rpc::Reading::kOn;
  uint64_t signs_of_life_ = 0;
  loop::Event sign_of_life_;  // also the end of the connection
};

WebSocketConnection::WebSocketConnection(loop::EventLoop& loop, Role role, UpgradedSocket socket, const Limits& limits)
    : loop_(loop),
      limits_(limits),
      peer_(std::move(socket.peer)),
      slot_(std::move(socket.slot)),
      bytes_(std::move(socket.stream)),
      outbox_(loop, *bytes_, {limits.high_water_bytes, limits.low_water_bytes}, *this),
      frames_(outbox_, role, limits.outbound_frame_bytes),
      beast_(loop.context(), *bytes_, outbox_, std::move(socket.early_input), [this] { OnCloseFrame(); }),
      continue_(loop, [this] { Continue(); }),
      ping_timer_(loop, [this] { Ping(); }),
      close_timer_(loop, [this] { Finish(); }),
      hang_up_(loop, bytes_->fd(), HangUpWatch::Sign::kEitherSide, [this] { Finish(); }),
      peer_watch_(
          loop, bytes_->fd(), [this] { Finish(); }, limits.peer_timeout),
      room_(limits.budget, [this] { GiveUpMessage(); }) {}

void WebSocketConnection::Accept(const std::string& key, OnConnection on_connection) {
  beast_.set_option(websocket::stream_base::decorator(
      [](websocket::response_type& response) { response.set(http::field::server, "holdfast"); }));
  beast_.async_accept(UpgradeRequest(key),
                      [self = shared_from_this(), on_connection = std::move(on_connection)](error_code error) {
                        if (error || self->state_ != State::kOpening) return self->Finish();
                        self->state_ = State::kOpen;
                        on_connection(self);
                      });
}

void WebSocketConnection::Request(const ServerStream& server, OnAnswer on_answer) {
  on_answer_ = std::move(on_answer);
  on_refused_ = server.on_refused;
  beast_.set_option(websocket::stream_base::decorator([headers = server.headers](websocket::request_type& request) {
    request.set(http::field::user_agent, "holdfast");
    for (const auto& [name, value] : headers) request.set(name, value);
  }));
  beast_.async_handshake(answer_, server.host, server.target,
                         [self = shared_from_this()](error_code error) { self->OnUpgradeAnswer(error); });
}

void WebSocketConnection::OnUpgradeAnswer(error_code error) {
  if (!on_answer_) return;
  auto on_answer = std::exchange(on_answer_, nullptr);
  if (error || state_ != State::kOpening) {
    Finish();
    if (error == websocket::error::upgrade_declined && on_refused_) {
      on_refused_({.status = answer_.result_int(), .body = answer_.body().substr(0, kShownBodyBytes)});
    }
    return on_answer(std::unexpected(UpgradeError(peer_, error, answer_)));
  }
  state_ = State::kOpen;
  answer_ = {};
  on_answer({});
}

void WebSocketConnection::AbandonUpgrade() {
  on_answer_ = nullptr;
  if (state_ == State::kOpening) Finish();
}

void WebSocketConnection::Start(rpc::Receiver& receiver) {
  receiver_ = &receiver;
  if (state_ == State::kClosed) return loop_.Post([self = shared_from_this()] { self->receiver_->OnClosed(); });
  if (limits_.ping_interval.count() > 0) ping_timer_.Start(limits_.ping_interval);
  beast_.control_callback([this](websocket::frame_type, auto) { OnSign(); });
  continue_.Schedule();
}

void WebSocketConnection::Send(std::string message) {
  if (state_ == State::kOpen) frames_.AppendText(std::move(message));
}

void WebSocketConnection::SetReading(rpc::Reading reading) {
  reading_ = reading;
  if (reading == rpc::Reading::kOff) return hang_up_.Start();
  if (room_.waiting()) return;
  hang_up_.Stop();
  continue_.Schedule();
}

void WebSocketConnection::WatchWritable() {
  stream().socket().async_wait(GatheringStream::Socket::wait_write, [self = shared_from_this()](error_code error) {
    if (!error) self->outbox_.Flush();
  });
}

void WebSocketConnection::OnFlushed(Outbox::Progress progress) {
  if (state_ != State::kClosed) peer_watch_.OnWritten();
  if (outbox_.empty() || progress == Outbox::Progress::kDrained) stream().OnProgress();
  if (progress == Outbox::Progress::kDrained && state_ == State::kOpen && receiver_ != nullptr) receiver_->OnDrained();
}

// Continues the inbound side: delivers a message that waits for it, or starts the next read.
void WebSocketConnection::Continue() {
  const auto self = shared_from_this();
  if (message_held_ && reading_ == rpc::Reading::kOn && state_ == State::kOpen) Deliver();
  if (read_pending_ || message_held_ || room_.waiting() || reading_ == rpc::Reading::kOff || state_ != State::kOpen)
    return;
  Read();
}

// Beast adds the length that a frame header announces to the length of the message so far, and compares the sum with
// read_message_max. A limit that moves along with the message therefore bounds each frame as well as the whole message.
void WebSocketConnection::Read() {
  if (!PrepareBuffer()) return;
  beast_.read_message_max(std::min(limits_.max_message_bytes, message_bytes_ + limits_.max_frame_bytes));
  read_pending_ = true;
  beast_.async_read_some(asio::buffer(buffer_.data() + message_bytes_, buffer_.size() - message_bytes_),
                         [self = shared_from_this()](error_code error, size_t count) { self->OnRead(error, count); });
}

bool WebSocketConnection::PrepareBuffer() {
  const size_t expected = beast_.read_size_hint(kMinReadBytes);
  const size_t wanted = message_bytes_ + std::clamp(expected, kMinReadBytes, kMaxReadBytes);
  const bool has_room = room_.Ask(buffer_.GrownSize(wanted), [this](const Result<>& room) { OnRoom(room); });
  if (has_room) {
    buffer_.Grow(wanted);
  } else if (room_.waiting()) {
    hang_up_.Start();
  }
  return has_room;
}

void WebSocketConnection::OnRoom(const Result<>& room) {
  if (!room) return GiveUpMessage();
  if (reading_ == rpc::Reading::kOff) return;
  hang_up_.Stop();
  continue_.Schedule();
}

// Closes the connection because there is no room for its message, or because other connections need the room. They wait
// for it, so the closing handshake gets only a short time.
void WebSocketConnection::GiveUpMessage() {
  if (state_ != State::kOpen) return;
  StartClosing(websocket::close_code::try_again_later);
  close_timer_.Start(std::min(limits_.close_timeout, kShortGoodbye));
}

void WebSocketConnection::OnRead(error_code error, size_t count) {
  read_pending_ = false;
  if (error) return Finish();
  OnSign();
  message_bytes_ += count;
  message_held_ = beast_.is_message_done();
  // Beast checks UTF-8 as payload arrives, and so does not notice a character that is left incomplete when the last
  // fragment is empty.
  if (message_held_ && count == 0 && beast_.got_text() && IncompleteTail(buffer_.first(message_bytes_)) > 0) {
    return StartClosing(websocket::close_code::bad_payload);
  }
  Continue();
}

void WebSocketConnection::Deliver() {
  receiver_->OnMessage(buffer_.first(message_bytes_));
  message_held_ = false;
  message_bytes_ = 0;
  if (buffer_.size() <= kKeptBufferBytes) return;
  buffer_.Release();
  room_.Release();
}

// A congested peer gets no pings, because it has enough to read already. A peer that does not answer pings is not
// closed for that.
void WebSocketConnection::Ping() {
  if (state_ != State::kOpen) return;
  if (!outbox_.congested()) frames_.AppendEmptyPing();
  ping_timer_.Start(limits_.ping_interval);
}

void WebSocketConnection::OnSign() {
  ++signs_of_life_;
  sign_of_life_.Notify();
}

// The question is a ping. Where the connection does not read, the answer stays in the socket. A peer that does not read
// gets the ping when it has read everything before it, and is silent until then.
loop::Task<rpc::Presence> WebSocketConnection::Probe(std::chrono::milliseconds patience) {
  const auto self = shared_from_this();
  loop::Deadline deadline(loop_, patience);
  const uint64_t signs = signs_of_life_;
  const int unread = UnreadBytes(bytes_->fd());
  if (hang_up_.hung_up()) co_return rpc::Presence::kSilent;
  if (state_ == State::kOpen) frames_.AppendEmptyPing();
  while (state_ == State::kOpen && signs_of_life_ == signs && !deadline.passed()) {
    co_await sign_of_life_.NextBefore(deadline);
  }
  const bool is_there = state_ == State::kOpen && (signs_of_life_ != signs || UnreadBytes(bytes_->fd()) > unread);
  co_return is_there ? rpc::Presence::kAnswers : rpc::Presence::kSilent;
}

// The result of async_close does not matter: the connection is finished after an orderly end as well as after an error.
void WebSocketConnection::StartClosing(websocket::close_code code) {
  if (state_ != State::kOpen) return;
  state_ = State::kClosing;
  close_timer_.Start(limits_.close_timeout);
  beast_.async_close(code, [self = shared_from_this()](error_code) { self->Finish(); });
}

// Beast has written a Close frame: our own, its answer to the peer's, or its reaction to a breach of the protocol.
void WebSocketConnection::OnCloseFrame() {
  if (state_ == State::kClosed) return;
  state_ = State::kClosing;
  if (!close_timer_.running()) close_timer_.Start(limits_.close_timeout);
}

void WebSocketConnection::Finish() {
  if (std::exchange(state_, State::kClosed) == State::kClosed) return;
  const auto self = shared_from_this();  // the receiver may drop its reference
  ping_timer_.Stop();
  close_timer_.Stop();
  hang_up_.Stop();
  peer_watch_.Stop();
  stream().Abort();
  slot_.reset();
  sign_of_life_.Notify();
  if (receiver_ != nullptr) receiver_->OnClosed();
}

}  // namespace

void AcceptWebSocket(loop::EventLoop& loop, UpgradedSocket socket, const Limits& limits, OnConnection on_connection) {
  const std::string key = std::move(socket.key);
  std::make_shared<WebSocketConnection>(loop, Role::kServer, std::move(socket), limits)
      ->Accept(key, std::move(on_connection));
}

loop::Task<Result<std::shared_ptr<rpc::Transport>>> RequestWebSocket(loop::EventLoop& loop, ServerStream server,
                                                                     const Limits& limits, loop::Deadline& deadline) {
  struct Upgrading {
    std::shared_ptr<WebSocketConnection> connection;
    ~Upgrading() { connection->AbandonUpgrade(); }
  };
  UpgradedSocket socket{
      .stream = std::move(server.stream), .peer = server.peer, .key = {}, .early_input = {}, .slot = {}};
  const Upgrading upgrading(std::make_shared<WebSocketConnection>(loop, Role::kClient, std::move(socket), limits));
  std::optional<Result<>> outcome;
  loop::Event answered;
  upgrading.connection->Request(server, [&](Result<> answer) {
    outcome = std::move(answer);
    answered.Notify();
  });
  while (!outcome && !deadline.passed()) co_await answered.NextBefore(deadline);
  if (!outcome) {
    co_return Fail(ErrorKind::kTimeout,
                   fmt::format("the server at {} did not answer the upgrade in time", server.peer));
  }
  if (!*outcome) co_return std::unexpected(std::move(outcome->error()));
  co_return upgrading.connection;
}

}  // namespace holdfast::transport
