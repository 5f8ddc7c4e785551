#include "transport/tls_bio.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "base/check.h"
#include "transport/tls_library.h"

namespace holdfast::transport {
namespace {

int Append(BIO* bio, const char* bytes, int count) {
  static_cast<std::string*>(Tls().bio_data(bio))->append(bytes, static_cast<size_t>(count));
  return count;
}

long ControlOutput(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

BIO_METHOD* MakeMethod(const char* name) {
  BIO_METHOD* const made = Tls().bio_method_new(Tls().bio_new_index() | BIO_TYPE_SOURCE_SINK, name);
  CHECK(made != nullptr);
  return made;
}

BIO* MakeBioOf(const BIO_METHOD* method, void* object) {
  BIO* const bio = Tls().bio_new(method);
  CHECK(bio != nullptr);
  Tls().bio_set_data(bio, object);
  Tls().bio_set_init(bio, 1);
  return bio;
}

}  // namespace

// The functions that OpenSSL calls.
struct TlsInput::Calls {
  static int Read(BIO* bio, char* buffer, int size) {
    TlsInput& input = *static_cast<TlsInput*>(Tls().bio_data(bio));
    Tls().bio_clear_flags(bio, BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY);
    if (input.flooded()) return Refuse();
    const size_t most = std::min(static_cast<size_t>(size), input.allowed_);
    ssize_t count = -1;
    errno = EAGAIN;
    while (most > 0 && (count = ::recv(input.socket_, buffer, most, MSG_DONTWAIT)) < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) Tls().bio_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY);
    if (count == 0) input.ended_ = true;
    if (count > 0) input.allowed_ -= static_cast<size_t>(count);
    if (count > 0) input.idle_bytes_ += static_cast<size_t>(count);
    return static_cast<int>(count);
  }

  static int Refuse() {
    errno = EPROTO;
    return -1;
  }

  // OpenSSL asks for the end of the input to distinguish it from an error.
  static long Control(BIO* bio, int command, long, void*) {
    return command == BIO_CTRL_EOF && static_cast<TlsInput*>(Tls().bio_data(bio))->ended_ ? 1 : 0;
  }
};

bio_st* TlsInput::MakeBio() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* const made = MakeMethod("socket input");
    Tls().bio_method_set_read(made, Calls::Read);
    Tls().bio_method_set_control(made, Calls::Control);
    return made;
  }();
  return MakeBioOf(method, this);
}

bio_st* MakeOutputBio(std::string& target) {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* const made = MakeMethod("string output");
    Tls().bio_method_set_write(made, Append);
    Tls().bio_method_set_control(made, ControlOutput);
    return made;
  }();
  return MakeBioOf(method, &target);
}

}  // namespace holdfast::transport
