#include "transport/tls_context.h"

#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "transport/tls_library.h"

namespace holdfast::transport {
namespace {

constexpr size_t kReadBufferBytes = 64u << 10;  // several records, so that one system call reads them all

// The suites of TLS 1.2 that have what all suites of TLS 1.3 have: a key of its own for each connection, so that the
// server's key does not open recorded connections, and authenticated encryption.
constexpr const char* kTls12Suites = "ECDHE+AESGCM:ECDHE+CHACHA20";

std::shared_ptr<SSL_CTX> MakeContext(const SSL_METHOD* method) {
  std::shared_ptr<SSL_CTX> context(Tls().context_new(method), Tls().context_free);
  if (context == nullptr) return nullptr;
  Tls().context_control(context.get(), SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, nullptr);
  if (Tls().set_cipher_list(context.get(), kTls12Suites) != 1) return nullptr;
  Tls().set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  Tls().context_control(context.get(), SSL_CTRL_MODE, SSL_MODE_RELEASE_BUFFERS, nullptr);
  Tls().context_control(context.get(), SSL_CTRL_SET_READ_AHEAD, 1, nullptr);
  Tls().set_read_buffer(context.get(), kReadBufferBytes);
  return context;
}

std::unexpected<Error> FailTls(std::string_view call, std::string_view object) {
  return Fail(ErrorKind::kInvalidParams, fmt::format("{} {}: {}", call, object, TakeTlsReason()));
}

std::unexpected<Error> FailFile(std::string_view call, const std::string& file, std::string_view reason) {
  return Fail(ErrorKind::kInvalidParams, fmt::format("{} {}: {}", call, file, reason));
}

// OpenSSL would wait for the writer of a FIFO. The reader of a key that every user may change would use the key of
// another user.
Result<> CheckFile(std::string_view call, const std::string& file) {
  struct stat status{};
  if (::stat(file.c_str(), &status) != 0) return FailFile(call, file, ErrnoText(errno));
  if (!S_ISREG(status.st_mode)) return FailFile(call, file, "it is not a regular file");
  if ((status.st_mode & S_IWOTH) != 0) return FailFile(call, file, "every user may change it (chmod o-w)");
  return {};
}

// OpenSSL would ask for the passphrase of an encrypted key on the terminal, and a server must not wait for that.
int RefusePassphrase(char*, int, int, void*) { return -1; }

}  // namespace

Result<TlsContext> TlsContext::ForServer(const std::string& certificate_file, const std::string& key_file) {
  TRY_VOID(TlsLibrary::Load());
  auto context = MakeContext(Tls().server_method());
  if (!context) return FailTls("start", "TLS");
  Tls().set_passphrase_callback(context.get(), RefusePassphrase);
  constexpr std::string_view kReadCertificate = "read the TLS certificate", kReadKey = "read the TLS key";
  TRY_VOID(CheckFile(kReadCertificate, certificate_file));
  if (Tls().use_certificate_chain(context.get(), certificate_file.c_str()) != 1) {
    return FailTls(kReadCertificate, certificate_file);
  }
  TRY_VOID(CheckFile(kReadKey, key_file));
  if (Tls().use_private_key(context.get(), key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    return FailTls(kReadKey, key_file);
  }
  return TlsContext(std::move(context));
}

Result<TlsContext> TlsContext::ForClient(const std::string& ca_file) {
  TRY_VOID(TlsLibrary::Load());
  auto context = MakeContext(Tls().client_method());
  if (!context) return FailTls("start", "TLS");
  Tls().trust_system_roots(context.get());  // without them only `ca_file` is trusted
  Tls().set_verify_flags(Tls().context_parameters(context.get()), X509_V_FLAG_PARTIAL_CHAIN);
  if (!ca_file.empty() && Tls().load_trusted(context.get(), ca_file.c_str()) != 1) {
    return FailTls("read the trusted certificates", ca_file);
  }
  return TlsContext(std::move(context));
}

// The first entry of OpenSSL's queue is the cause. The later ones are what failed because of it.
std::string TakeTlsReason() {
  const unsigned long code = Tls().take_error();
  Tls().clear_errors();
  if (ERR_SYSTEM_ERROR(code)) return ErrnoText(static_cast<int>(ERR_GET_REASON(code)));
  const char* const reason = code != 0 ? Tls().reason_text(code) : nullptr;
  return reason != nullptr ? reason : "unknown failure of TLS";
}

}  // namespace holdfast::transport
