#include "transport/http_front.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "transport/lines_connection.h"
#include "transport/plain_stream.h"
#include "transport/tls_stream.h"
#include "transport/waiting_call.h"
#include "transport/web_socket_connection.h"

namespace holdfast::transport {
namespace {

constexpr std::string_view kEndOfHead = "\r\n\r\n";

// The limits of sockets that are not connections yet. When one more socket comes, a peer that has sent nothing is
// dismissed, or else the one that has been here longest: a client in the middle of its TLS handshake needs some round
// trips, and connections that cost their maker nothing must not push it out. A handshake may hold 90 KiB.
constexpr size_t kMaxPlainRequesters = 256;
constexpr size_t kMaxTlsRequesters = 512;

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

// A requester is one stream whose first bytes are awaited or, after an answer, whose end is awaited.
class HttpFront::Requester {
 public:
  Requester(HttpFront& front, std::unique_ptr<ByteStream> stream, std::string peer)
      : front_(front),
        stream_(std::move(stream)),
        peer_(std::move(peer)),
        watch_(
            std::in_place, front.loop_, stream_->fd(), [this] { OnReady(); }, [this] { OnReady(); }),
        timer_(front.loop_, [this] { front_.Forget(self_); }) {}

  // A peer that may speak lines has no time limit before its first byte, because it may send its first message at any
  // time.
  void Start(Requesters::iterator self) {
    self_ = self;
    if (front_.language_ == Language::kHttp) timer_.Start(front_.limits_.head_timeout);
    Wait();
  }

  // The watch is removed before the descriptor is passed on, because epoll holds each descriptor only once.
  std::unique_ptr<ByteStream> TakeStream() {
    watch_.reset();
    return std::move(stream_);
  }
  std::string TakePeer() { return std::move(peer_); }

  bool is_silent() const { return silent_; }

 private:
  // Reads until the stream has no more, because it may hold bytes that its descriptor does not show.
  void OnReady() {
    silent_ = false;
    for (;;) {
      std::array<char, 4u << 10> chunk;
      const ssize_t count = stream_->Read(chunk);
      if (count == 0 || (count < 0 && errno != EAGAIN)) return front_.Forget(self_);
      if (count < 0 || answered_) return Wait();
      input_.append(chunk.data(), static_cast<size_t>(count));
      if (Consider() == Outcome::kSettled) return;
    }
  }

  void Wait() {
    watch_->WatchReadable();
    if (stream_->has_unsent()) watch_->WatchWritable();
  }

  // After kSettled this object may be gone.
  enum class Outcome { kNeedsMore, kSettled };

  Outcome Consider() {
    if (call_) return ConsiderCall();
    if (front_.language_ == Language::kHttpOrLines && !IsLetter(input_.front())) {
      front_.HandOverLines(self_, std::move(input_));
      return Outcome::kSettled;
    }
    if (!timer_.running()) timer_.Start(front_.limits_.head_timeout);
    const size_t end = input_.find(kEndOfHead);
    if (end == std::string::npos && input_.size() <= kMaxHttpHeadBytes) return Outcome::kNeedsMore;
    const bool is_too_long = end == std::string::npos || end + kEndOfHead.size() > kMaxHttpHeadBytes;
    return is_too_long ? Answer(AnswerHeadTooLong()) : Decide(end + kEndOfHead.size());
  }

  Outcome Decide(size_t head_bytes) {
    const HttpFrontOptions& options = front_.options_;
    HttpDecision decision =
        DecideHttpRequest(std::string_view(input_).substr(0, head_bytes), options.routes, options.authorizer,
                          stream_->fd(), options.on_call ? OtherPaths::kCalls : OtherPaths::kNotFound);
    if (const auto* answer = std::get_if<HttpAnswer>(&decision)) return Answer(*answer);
    input_.erase(0, head_bytes);
    if (auto* call = std::get_if<CallHead>(&decision)) return BeginCall(std::move(*call));
    Slot slot = front_.slots_.Take();
    if (!slot) return Answer(AnswerServerFull());
    front_.HandOverWebSocket(self_, std::move(std::get<Upgrade>(decision).key), std::move(input_), std::move(slot));
    return Outcome::kSettled;
  }

  // A peer that has begun to send the body does not wait for the answer.
  Outcome BeginCall(CallHead head) {
    call_ = std::move(head);
    if (call_->awaits_continue && call_->body_bytes > 0 && input_.empty()) Write(kContinue);
    return ConsiderCall();
  }

  Outcome ConsiderCall() {
    if (input_.size() < call_->body_bytes) return Outcome::kNeedsMore;
    Slot slot = front_.slots_.Take();
    if (!slot) return Answer(AnswerServerFull());
    call_->message.body = input_.substr(0, call_->body_bytes);
    input_.erase(0, call_->body_bytes);
    front_.HandOverCall(self_, *std::move(call_), std::move(input_), std::move(slot));
    return Outcome::kSettled;
  }

  // The socket stays open until the peer closes it: closing a socket while the peer still sends would reset the
  // connection, and the answer could be lost.
  Outcome Answer(const HttpAnswer& answer) {
    Write(answer.bytes);
    stream_->EndWriting();
    answered_ = true;
    timer_.Start(front_.limits_.close_timeout);
    Wait();
    return Outcome::kSettled;
  }

  // An empty socket buffer has room for the short answers that are given here.
  void Write(std::string_view text) {
    const iovec bytes{const_cast<char*>(text.data()), text.size()};  // a write only reads from it
    (void)stream_->Write(std::span(&bytes, 1));
  }

  HttpFront& front_;
  std::unique_ptr<ByteStream> stream_;
  std::string peer_;
  std::optional<loop::FdWatch> watch_;
  loop::Timer timer_;
  Requesters::iterator self_;
  std::string input_;             // what follows the head, once call_ is set
  std::optional<CallHead> call_;  // set while its body arrives
  bool silent_ = true;            // the peer has sent nothing, not even a part of a handshake
  bool answered_ = false;
};

HttpFront::HttpFront(loop::EventLoop& loop, Language language, const Limits& limits, HttpFrontOptions options,
                     OnConnection on_connection)
    : loop_(loop),
      language_(language),
      limits_(limits),
      options_(std::move(options)),
      on_connection_(std::make_shared<OnConnection>(std::move(on_connection))),
      farewells_(std::make_shared<HttpFarewells>(loop, limits)),
      slots_(limits.max_connections) {}

HttpFront::~HttpFront() = default;

void HttpFront::Serve(OwnedFd socket, std::string peer) {
  if (requesters_.size() >= (options_.tls ? kMaxTlsRequesters : kMaxPlainRequesters)) MakeRoom();
  requesters_.push_front(std::make_unique<Requester>(*this, StreamOf(std::move(socket)), std::move(peer)));
  requesters_.front()->Start(requesters_.begin());
}

void HttpFront::MakeRoom() {
  const auto silent = std::find_if(requesters_.rbegin(), requesters_.rend(),
                                   [](const auto& requester) { return requester->is_silent(); });
  Forget(std::prev(silent != requesters_.rend() ? silent.base() : requesters_.end()));
}

std::unique_ptr<ByteStream> HttpFront::StreamOf(OwnedFd socket) const {
  if (options_.tls) return TlsStream::Accept(*options_.tls, std::move(socket));
  return std::make_unique<PlainStream>(std::move(socket));
}

void HttpFront::Forget(Requesters::iterator requester) { requesters_.erase(requester); }

void HttpFront::HandOverWebSocket(Requesters::iterator requester, std::string key, std::string early_input, Slot slot) {
  UpgradedSocket socket{.stream = (*requester)->TakeStream(),
                        .peer = (*requester)->TakePeer(),
                        .key = std::move(key),
                        .early_input = std::move(early_input),
                        .slot = std::move(slot)};
  Forget(requester);
  AcceptWebSocket(loop_, std::move(socket), limits_,
                  [weak = std::weak_ptr(on_connection_)](std::shared_ptr<rpc::Transport> transport) {
                    if (const auto on_connection = weak.lock()) (*on_connection)(std::move(transport));
                  });
}

void HttpFront::HandOverCall(Requesters::iterator requester, CallHead head, std::string early_input, Slot slot) {
  UpgradedSocket socket{.stream = (*requester)->TakeStream(),
                        .peer = (*requester)->TakePeer(),
                        .key = std::move(head.web_socket_key),
                        .early_input = std::move(early_input),
                        .slot = std::move(slot)};
  Forget(requester);
  const auto on_call = options_.on_call;  // the callee may destroy the listener, and this object with it
  on_call(std::make_unique<WaitingCall>(loop_, std::move(head.message), std::move(socket), farewells_));
}

// The line protocol has no message for a refusal, so without a slot the socket is just closed.
void HttpFront::HandOverLines(Requesters::iterator requester, std::string early_input) {
  LinesStreams streams{.in = (*requester)->TakeStream(),
                       .peer = (*requester)->TakePeer(),
                       .early_input = std::move(early_input),
                       .kept_until_closed = slots_.Take()};
  Forget(requester);
  if (!streams.kept_until_closed) return;
  const auto on_connection = on_connection_;  // the callee may destroy the listener, and this object with it
  (*on_connection)(ExchangeLines(loop_, std::move(streams), limits_));
}

}  // namespace holdfast::transport
