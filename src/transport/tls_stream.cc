#include "transport/tls_stream.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/check.h"
#include "transport/socket_address.h"
#include "transport/tls_library.h"

namespace holdfast::transport {
namespace {

constexpr size_t kRecordBytes = 16u << 10;   // the longest payload of a TLS record
constexpr size_t kSealedAtOnce = 64u << 10;  // plaintext; the memory that a slow connection holds beside its queue

constexpr size_t kReadAtOnce = 64u << 10;  // ciphertext; other connections have their turn after it

// The ciphertext that waits for a peer that does not read. A Write leaves less than half of it. A peer that sends
// KeyUpdates and reads no answers could fill the memory otherwise.
constexpr size_t kMaxSealedBytes = 256u << 10;

}  // namespace

TlsStream::TlsStream(const TlsContext& context, OwnedFd socket)
    : socket_(std::move(socket)), input_(socket_.get()), ssl_(Tls().session_new(context.get()), Tls().session_free) {
  CHECK(ssl_ != nullptr);
  Tls().set_bio(ssl_.get(), input_.MakeBio(), MakeOutputBio(sealed_));
}

TlsStream::~TlsStream() = default;

std::unique_ptr<TlsStream> TlsStream::Accept(const TlsContext& context, OwnedFd socket) {
  std::unique_ptr<TlsStream> stream(new TlsStream(context, std::move(socket)));
  Tls().set_accept_state(stream->ssl_.get());
  return stream;
}

std::unique_ptr<TlsStream> TlsStream::Connect(const TlsContext& context, OwnedFd socket, const std::string& host,
                                              TrustDecision decision) {
  std::unique_ptr<TlsStream> stream(new TlsStream(context, std::move(socket)));
  Tls().set_connect_state(stream->ssl_.get());
  ExpectServer(*stream->ssl_, host, decision, stream->distrust_);
  return stream;
}

TlsStream::Step TlsStream::Handshake() {
  Tls().clear_errors();
  errno = 0;
  input_.Allow(kReadAtOnce);
  const int result = Tls().do_handshake(ssl_.get());
  if (result != 1) (void)OnFailure(result);
  const bool waits = result != 1 && errno == EAGAIN;
  const bool flushed = Flush();
  if (!flushed && errno != EAGAIN) {
    Explain(ErrorKind::kDisconnected, ErrnoText(errno));
    return Step::kFailed;
  }
  if (result == 1) return flushed ? Step::kDone : Step::kWaits;
  return waits ? Step::kWaits : Step::kFailed;
}

// One call of OpenSSL reads one record, and the caller should not have to come back for each. A failure after some
// bytes is reported by the next call. OpenSSL may have an answer for the peer after a read: its part of the handshake,
// or an alert.
ssize_t TlsStream::Read(std::span<char> buffer) {
  Tls().clear_errors();
  errno = 0;
  input_.Allow(kReadAtOnce);
  size_t total = 0;
  int result = 1;
  while (result == 1 && total < buffer.size()) {
    size_t count = 0;
    result = Tls().read(ssl_.get(), buffer.data() + total, buffer.size() - total, &count);
    total += count;
    if (count > 0) input_.OnApplicationData();
  }
  const ssize_t outcome = total > 0 ? static_cast<ssize_t>(total) : OnFailure(result);
  const int reason = errno;
  (void)Flush();  // the rest is sent by the next call; a failed socket fails the next read as well
  if (sealed_.size() > kMaxSealedBytes) return OnFlood();
  errno = reason;
  return outcome;
}

// Returns 0 at the orderly end of the stream. Otherwise sets errno and returns -1.
ssize_t TlsStream::OnFailure(int result) {
  const int reason = errno;
  switch (Tls().error_of(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
      errno = EAGAIN;
      return -1;
    case SSL_ERROR_ZERO_RETURN:
      Explain(ErrorKind::kDisconnected, "it closed the connection");
      return 0;
    case SSL_ERROR_SYSCALL:
      if (input_.flooded()) return OnFlood();
      errno = reason != 0 && reason != EAGAIN ? reason : ECONNRESET;
      Explain(ErrorKind::kDisconnected, ErrnoText(errno));
      return -1;
    default:
      ExplainProtocolError();
      errno = EPROTO;
      return -1;
  }
}

ssize_t TlsStream::OnFlood() {
  Explain(ErrorKind::kInvalidRequest, "it sends messages of TLS without end");
  errno = EPROTO;
  return -1;
}

void TlsStream::ExplainProtocolError() {
  switch (ERR_GET_REASON(Tls().peek_error())) {
    case SSL_R_UNEXPECTED_EOF_WHILE_READING:
      return Explain(ErrorKind::kDisconnected, "it closed the connection");
    case SSL_R_WRONG_VERSION_NUMBER:  // the first bytes are no TLS record
      return Explain(ErrorKind::kInvalidRequest, "it does not speak TLS");
    case SSL_R_CERTIFICATE_VERIFY_FAILED:
      return Explain(ErrorKind::kPermissionDenied, distrust_.empty() ? TakeTlsReason() : distrust_);
    default:
      return Explain(ErrorKind::kPermissionDenied, TakeTlsReason());
  }
}

// The first reason is kept.
void TlsStream::Explain(ErrorKind kind, std::string reason) {
  if (failure_.message.empty()) failure_ = {kind, std::move(reason)};
}

std::string TlsStream::ChannelBinding() const {
  constexpr std::string_view kLabel = "EXPORTER-Channel-Binding";
  std::array<unsigned char, 32> secret;
  const int done =
      Tls().export_secret(ssl_.get(), secret.data(), secret.size(), kLabel.data(), kLabel.size(), nullptr, 0, 0);
  CHECK(done == 1);
  return {secret.begin(), secret.end()};
}

// The plaintext of an earlier call that waited is already sealed. It is reported when all of its ciphertext has been
// sent, so that a connection whose outbox is empty has nothing left to send.
ssize_t TlsStream::Write(std::span<const iovec> vectors) {
  if (!Flush()) return -1;
  if (vectors.empty()) return 0;
  if (credit_ == 0) {
    credit_ = Seal(vectors);
    if (credit_ == 0) errno = EPROTO;  // the connection has failed
    if (credit_ == 0 || !Flush()) return -1;
  }
  return static_cast<ssize_t>(std::exchange(credit_, 0));
}

// Encrypts some of the bytes, and returns how many. Short pieces are put together, because each record costs 22 bytes
// and a round of the cipher.
size_t TlsStream::Seal(std::span<const iovec> vectors) {
  std::array<char, kRecordBytes> record;
  size_t used = 0;
  size_t total = 0;
  const auto seal = [&] {
    size_t written = 0;
    if (used > 0) Tls().write(ssl_.get(), record.data(), std::exchange(used, 0), &written);
    total += written;
  };
  for (const iovec& vector : vectors) {
    std::span<const char> rest(static_cast<const char*>(vector.iov_base), vector.iov_len);
    while (!rest.empty() && total < kSealedAtOnce) {
      const auto piece = rest.first(std::min(rest.size(), record.size() - used));
      std::ranges::copy(piece, record.begin() + static_cast<ptrdiff_t>(used));
      used += piece.size();
      rest = rest.subspan(piece.size());
      if (used == record.size()) seal();
    }
    if (total >= kSealedAtOnce) break;
  }
  seal();
  return total;
}

// Sends sealed_. Returns false with an errno if the socket does not accept all of it.
bool TlsStream::Flush() {
  while (sent_ < sealed_.size()) {
    const ssize_t count =
        ::send(socket_.get(), sealed_.data() + sent_, sealed_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      sent_ += static_cast<size_t>(count);
    } else if (errno != EINTR) {
      return false;
    }
  }
  sealed_.clear();
  sent_ = 0;
  return true;
}

// The notice is worth one attempt: the end of the TCP connection follows it.
void TlsStream::EndWriting() {
  Tls().clear_errors();
  (void)Tls().shut_down(ssl_.get());
  Tls().clear_errors();
  (void)Flush();
  ::shutdown(socket_.get(), SHUT_WR);
}

loop::Task<Result<>> AwaitHandshake(loop::EventLoop& loop, TlsStream& stream, loop::Deadline& deadline) {
  loop::Event ready;
  loop::FdWatch watch(loop, stream.fd(), [&] { ready.Notify(); }, [&] { ready.Notify(); });
  for (;;) {
    const auto step = stream.Handshake();
    if (step == TlsStream::Step::kDone) co_return Result<>();
    if (step == TlsStream::Step::kFailed) co_return std::unexpected(stream.failure());
    watch.WatchReadable();
    if (stream.has_unsent()) watch.WatchWritable();
    if (co_await ready.NextBefore(deadline) == loop::Event::Woken::kByTime) {
      co_return Fail(ErrorKind::kTimeout, "it did not complete the TLS handshake in time");
    }
  }
}

}  // namespace holdfast::transport
