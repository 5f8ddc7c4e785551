#include "transport/reception.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <iterator>
#include <optional>
#include <utility>

#include "transport/http_request.h"
#include "transport/lines_connection.h"
#include "transport/plain_stream.h"
#include "transport/web_socket_connection.h"

namespace holdfast::transport {
namespace {

constexpr std::string_view kEndOfHead = "\r\n\r\n";

// The limit of sockets that are not connections yet. A request needs only one turn of the loop, so only silent peers
// add up to this number; the peer that has been here longest is then dismissed.
constexpr size_t kMaxGuests = 256;

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

// A guest is one socket whose first bytes are awaited or, after an answer, whose end is awaited.
class Reception::Guest {
 public:
  Guest(Reception& reception, OwnedFd socket, std::string peer)
      : reception_(reception),
        socket_(std::move(socket)),
        peer_(std::move(peer)),
        watch_(std::in_place, reception.loop_, socket_.get(), [this] { OnReadable(); }),
        timer_(reception.loop_, [this] { reception_.Dismiss(self_); }) {}

  // A peer that may speak lines has no time limit before its first byte, because it may send its first message at any
  // time.
  void Start(Guests::iterator self) {
    self_ = self;
    if (reception_.language_ == Language::kHttp) timer_.Start(reception_.limits_.head_timeout);
    watch_->WatchReadable();
  }

  // The watch is removed before the descriptor is passed on, because epoll holds each descriptor only once.
  OwnedFd TakeSocket() {
    watch_.reset();
    return std::move(socket_);
  }
  std::string TakePeer() { return std::move(peer_); }

 private:
  void OnReadable() {
    std::array<char, 4u << 10> chunk;
    const ssize_t count = ::recv(socket_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) return reception_.Dismiss(self_);
    if (count < 0 || answered_) return watch_->WatchReadable();
    input_.append(chunk.data(), static_cast<size_t>(count));
    Consider();
  }

  void Consider() {
    if (reception_.language_ == Language::kHttpOrLines && !IsLetter(input_.front())) {
      return reception_.HandOverLines(self_, std::move(input_));
    }
    if (!timer_.running()) timer_.Start(reception_.limits_.head_timeout);
    const size_t end = input_.find(kEndOfHead);
    if (end != std::string::npos) return Decide(end + kEndOfHead.size());
    if (input_.size() > kMaxHttpHeadBytes) return Answer(AnswerHeadTooLong());
    watch_->WatchReadable();
  }

  void Decide(size_t head_bytes) {
    const Admission& admission = reception_.admission_;
    HttpDecision decision = DecideHttpRequest(std::string_view(input_).substr(0, head_bytes), admission.secret);
    if (const auto* answer = std::get_if<HttpAnswer>(&decision)) return Answer(*answer);
    if (admission.admits && !admission.admits(socket_.get())) return Answer(AnswerNotAdmitted());
    Slot slot = reception_.slots_.Take();
    if (!slot) return Answer(AnswerServerFull());
    reception_.HandOverWebSocket(self_, std::move(std::get<Upgrade>(decision).key), input_.substr(head_bytes),
                                 std::move(slot));
  }

  // An empty socket buffer has room for a whole answer. The socket stays open until the peer closes it: closing a
  // socket while the peer still sends would reset the connection, and the answer could be lost.
  void Answer(const HttpAnswer& answer) {
    (void)::send(socket_.get(), answer.bytes.data(), answer.bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    ::shutdown(socket_.get(), SHUT_WR);
    answered_ = true;
    timer_.Start(reception_.limits_.close_timeout);
    watch_->WatchReadable();
  }

  Reception& reception_;
  OwnedFd socket_;
  std::string peer_;
  std::optional<loop::FdWatch> watch_;
  loop::Timer timer_;
  Guests::iterator self_;
  std::string input_;
  bool answered_ = false;
};

Reception::Reception(loop::EventLoop& loop, Language language, const Limits& limits, Admission admission,
                     OnConnection on_connection)
    : loop_(loop),
      language_(language),
      limits_(limits),
      admission_(std::move(admission)),
      on_connection_(std::make_shared<OnConnection>(std::move(on_connection))),
      slots_(limits.max_connections) {}

Reception::~Reception() = default;

void Reception::Welcome(OwnedFd socket, std::string peer) {
  if (guests_.size() >= kMaxGuests) Dismiss(std::prev(guests_.end()));
  guests_.push_front(std::make_unique<Guest>(*this, std::move(socket), std::move(peer)));
  guests_.front()->Start(guests_.begin());
}

void Reception::Dismiss(Guests::iterator guest) { guests_.erase(guest); }

void Reception::HandOverWebSocket(Guests::iterator guest, std::string key, std::string early_input, Slot slot) {
  UpgradedSocket socket{.stream = std::make_unique<PlainStream>((*guest)->TakeSocket()),
                        .peer = (*guest)->TakePeer(),
                        .key = std::move(key),
                        .early_input = std::move(early_input),
                        .slot = std::move(slot)};
  Dismiss(guest);
  AcceptWebSocket(loop_, std::move(socket), limits_,
                  [weak = std::weak_ptr(on_connection_)](std::shared_ptr<rpc::Transport> transport) {
                    if (const auto on_connection = weak.lock()) (*on_connection)(std::move(transport));
                  });
}

// The line protocol has no message for a refusal, so without a slot the socket is just closed.
void Reception::HandOverLines(Guests::iterator guest, std::string early_input) {
  LinesStreams streams{.in = PlainStream((*guest)->TakeSocket()),
                       .peer = (*guest)->TakePeer(),
                       .early_input = std::move(early_input),
                       .slot = slots_.Take()};
  Dismiss(guest);
  if (!streams.slot) return;
  const auto on_connection = on_connection_;  // the callee may destroy the listener, and this object with it
  (*on_connection)(ExchangeLines(loop_, std::move(streams), limits_));
}

}  // namespace holdfast::transport
