#include "transport/tls_bio.h"

#include <openssl/bio.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "base/check.h"

namespace holdfast::transport {
namespace {

int Append(BIO* bio, const char* bytes, int count) {
  static_cast<std::string*>(::BIO_get_data(bio))->append(bytes, static_cast<size_t>(count));
  return count;
}

long ControlOutput(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

BIO_METHOD* MakeMethod(const char* name) {
  BIO_METHOD* const made = ::BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, name);
  CHECK(made != nullptr);
  return made;
}

BIO* MakeBioOf(const BIO_METHOD* method, void* object) {
  BIO* const bio = ::BIO_new(method);
  CHECK(bio != nullptr);
  ::BIO_set_data(bio, object);
  ::BIO_set_init(bio, 1);
  return bio;
}

}  // namespace

// The functions that OpenSSL calls.
struct TlsInput::Calls {
  static int Read(BIO* bio, char* buffer, int size) {
    TlsInput& input = *static_cast<TlsInput*>(::BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    if (input.flooded()) return Refuse();
    const size_t most = std::min(static_cast<size_t>(size), input.allowed_);
    ssize_t count = -1;
    errno = EAGAIN;
    while (most > 0 && (count = ::recv(input.socket_, buffer, most, MSG_DONTWAIT)) < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) BIO_set_retry_read(bio);
    if (count == 0) input.ended_ = true;
    if (count > 0) input.allowed_ -= static_cast<size_t>(count);
    if (count > 0) input.idle_bytes_ += static_cast<size_t>(count);
    return static_cast<int>(count);
  }

  static int Refuse() {
    errno = EPROTO;
    return -1;
  }

  // OpenSSL asks for the end of the input to tell it from an error.
  static long Control(BIO* bio, int command, long, void*) {
    return command == BIO_CTRL_EOF && static_cast<TlsInput*>(::BIO_get_data(bio))->ended_ ? 1 : 0;
  }
};

bio_st* TlsInput::MakeBio() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* const made = MakeMethod("socket input");
    ::BIO_meth_set_read(made, Calls::Read);
    ::BIO_meth_set_ctrl(made, Calls::Control);
    return made;
  }();
  return MakeBioOf(method, this);
}

bio_st* MakeOutputBio(std::string& target) {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* const made = MakeMethod("string output");
    ::BIO_meth_set_write(made, Append);
    ::BIO_meth_set_ctrl(made, ControlOutput);
    return made;
  }();
  return MakeBioOf(method, &target);
}

}  // namespace holdfast::transport
