// The other end of a TlsStream in tests, and the sockets between the two.
#pragma once

#include <openssl/ssl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "transport/tls_stream.h"

namespace holdfast::transport {

struct Sockets {
  OwnedFd left, right;
};

inline Sockets MakeSockets() {
  int fds[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
  return {OwnedFd(fds[0]), OwnedFd(fds[1])};
}

// Reads what is there. The end of the stream and errors are noted as "<end>" and "<error>".
inline std::string ReadAvailable(ByteStream& stream) {
  std::string text;
  std::array<char, 1000> chunk;
  for (;;) {
    const ssize_t count = stream.Read(chunk);
    if (count == 0) return text + "<end>";
    if (count < 0) return errno == EAGAIN ? text : text + "<error>";
    text.append(chunk.data(), static_cast<size_t>(count));
  }
}

// A peer that speaks TLS as OpenSSL does, and can send what TlsStream never sends. It keeps its ciphertext until Send.
class RawPeer {
 public:
  RawPeer(const TlsContext& context, OwnedFd socket)
      : socket_(std::move(socket)), ssl_(::SSL_new(context.get()), ::SSL_free), sealed_(::BIO_new(::BIO_s_mem())) {
    ::SSL_set_bio(ssl_.get(), ::BIO_new_socket(socket_.get(), BIO_NOCLOSE), sealed_);
  }

  SSL* ssl() { return ssl_.get(); }
  int fd() const { return socket_.get(); }

  void ShakeHandsWith(TlsStream& other) {
    for (int round = 0; round < 10; ++round) {
      (void)::SSL_do_handshake(ssl());
      Send();
      (void)ReadAvailable(other);
    }
    ASSERT_TRUE(::SSL_is_init_finished(ssl()));
  }

  void UpdateKey(int times) {
    for (int i = 0; i < times; ++i) {
      ASSERT_EQ(::SSL_key_update(ssl(), SSL_KEY_UPDATE_REQUESTED), 1);
      ASSERT_EQ(::SSL_do_handshake(ssl()), 1);
    }
  }

  size_t Send() {
    char* bytes = nullptr;
    const long count = BIO_get_mem_data(sealed_, &bytes);
    if (count > 0) EXPECT_EQ(::send(socket_.get(), bytes, static_cast<size_t>(count), MSG_NOSIGNAL), count);
    (void)BIO_reset(sealed_);
    return static_cast<size_t>(count);
  }

 private:
  OwnedFd socket_;
  std::unique_ptr<SSL, void (*)(SSL*)> ssl_;
  BIO* sealed_;  // belongs to ssl_
};

}  // namespace holdfast::transport
