// The two ends by which OpenSSL exchanges ciphertext with a TlsStream. Neither of them waits.
#pragma once

#include <cstddef>
#include <string>

struct bio_st;

namespace holdfast::transport {

// The ciphertext that OpenSSL reads from a socket. One call of OpenSSL reads on until it has application data, so a
// peer that sends only other records, such as KeyUpdates, would keep the thread for as long as it likes.
class TlsInput {
 public:
  // The bytes that arrive without application data before the input fails. A handshake with a long chain of
  // certificates has less than half of them.
  static constexpr size_t kMaxIdleBytes = 256u << 10;

  explicit TlsInput(int socket) : socket_(socket) {}

  // Allows some bytes to be read. After them the socket seems to be empty until the next call.
  void Allow(size_t bytes) { allowed_ = bytes; }

  void OnApplicationData() { idle_bytes_ = 0; }
  bool flooded() const { return idle_bytes_ > kMaxIdleBytes; }

  // Returns a new BIO, which borrows this object.
  bio_st* MakeBio();

 private:
  struct Calls;

  const int socket_;
  size_t allowed_ = 0;
  size_t idle_bytes_ = 0;  // read since the last application data
  bool ended_ = false;
};

// Returns a new BIO that appends ciphertext to a string, which it borrows.
bio_st* MakeOutputBio(std::string& target);

}  // namespace holdfast::transport
