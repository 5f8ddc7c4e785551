// A TlsStream is a ByteStream that encrypts. Its handshake takes place in the first reads, or in calls of Handshake.
// Ciphertext goes out in one send for each Write, however many records it has. A peer that sends records without
// application data, such as KeyUpdates, gets its share of the loop, and the connection fails after 256 KiB of them.
#pragma once

#include <memory>
#include <string>

#include "base/owned_fd.h"
#include "base/result.h"
#include "loop/event.h"
#include "loop/task.h"
#include "transport/byte_stream.h"
#include "transport/tls_bio.h"
#include "transport/tls_certificate.h"
#include "transport/tls_context.h"

struct ssl_st;

namespace holdfast::transport {

class TlsStream final : public ByteStream {
 public:
  // The server's end of a connection. The socket is non-blocking.
  static std::unique_ptr<TlsStream> Accept(const TlsContext& context, OwnedFd socket);

  // The client's end. The handshake fails unless the certificate of the server is valid for `host`, a name or a literal
  // address. With kLater the handshake goes on in spite of that, and the caller decides by distrust().
  static std::unique_ptr<TlsStream> Connect(const TlsContext& context, OwnedFd socket, const std::string& host,
                                            TrustDecision decision = TrustDecision::kInHandshake);

  ~TlsStream() override;

  enum class Step { kDone, kWaits, kFailed };

  // Goes on with the handshake as far as the socket allows. After kWaits the socket must become readable, and writable
  // if has_unsent(), before the next call.
  Step Handshake();

  // Returns why the handshake has failed, such as "its certificate is for a.example, not for b.example". The kind is
  // kDisconnected, kInvalidRequest if the peer does not speak TLS, or kPermissionDenied if it cannot be trusted.
  const Error& failure() const { return failure_; }

  // Returns why the certificate of the server is not valid; empty if it is.
  const std::string& distrust() const { return distrust_; }

  std::string ChannelBinding() const override;
  ssize_t Read(std::span<char> buffer) override;
  ssize_t Write(std::span<const iovec> vectors) override;
  void EndWriting() override;
  void Close() override { socket_.Reset(); }
  bool transparent() const override { return false; }
  bool has_unsent() const override { return sent_ < sealed_.size(); }
  int fd() const override { return socket_.get(); }

 private:
  TlsStream(const TlsContext& context, OwnedFd socket);

  bool Flush();
  ssize_t OnFailure(int result);
  ssize_t OnFlood();
  void ExplainProtocolError();
  void Explain(ErrorKind kind, std::string reason);
  size_t Seal(std::span<const iovec> vectors);

  OwnedFd socket_;
  TlsInput input_;
  std::unique_ptr<ssl_st, void (*)(ssl_st*)> ssl_;
  std::string sealed_;  // ciphertext on its way to the socket
  size_t sent_ = 0;     // the bytes of sealed_ that the socket has accepted
  size_t credit_ = 0;   // the plaintext in sealed_ that no call of Write has reported
  std::string distrust_;
  Error failure_{ErrorKind::kPermissionDenied, ""};
};

// Completes the handshake of the client. Fails with kTimeout or the failure of the stream. The message is only the
// reason.
loop::Task<Result<>> AwaitHandshake(loop::EventLoop& loop, TlsStream& stream, loop::Deadline& deadline);

}  // namespace holdfast::transport
