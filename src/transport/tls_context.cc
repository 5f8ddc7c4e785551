#include "transport/tls_context.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include <fmt/format.h>

namespace holdfast::transport {
namespace {

constexpr size_t kReadBufferBytes = 64u << 10;  // several records, so that one system call reads them all

// The suites of TLS 1.2 that have what all suites of TLS 1.3 have: a key of its own for each connection, so that the
// server's key does not open recorded connections, and authenticated encryption.
constexpr const char* kTls12Suites = "ECDHE+AESGCM:ECDHE+CHACHA20";

std::shared_ptr<SSL_CTX> MakeContext(const SSL_METHOD* method) {
  std::shared_ptr<SSL_CTX> context(::SSL_CTX_new(method), ::SSL_CTX_free);
  if (context == nullptr) return nullptr;
  ::SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  if (::SSL_CTX_set_cipher_list(context.get(), kTls12Suites) != 1) return nullptr;
  ::SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  ::SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);
  ::SSL_CTX_set_read_ahead(context.get(), 1);
  ::SSL_CTX_set_default_read_buffer_len(context.get(), kReadBufferBytes);
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
  auto context = MakeContext(::TLS_server_method());
  if (!context) return FailTls("start", "TLS");
  ::SSL_CTX_set_default_passwd_cb(context.get(), RefusePassphrase);
  constexpr std::string_view kReadCertificate = "read the TLS certificate", kReadKey = "read the TLS key";
  TRY_VOID(CheckFile(kReadCertificate, certificate_file));
  if (::SSL_CTX_use_certificate_chain_file(context.get(), certificate_file.c_str()) != 1) {
    return FailTls(kReadCertificate, certificate_file);
  }
  TRY_VOID(CheckFile(kReadKey, key_file));
  if (::SSL_CTX_use_PrivateKey_file(context.get(), key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    return FailTls(kReadKey, key_file);
  }
  return TlsContext(std::move(context));
}

Result<TlsContext> TlsContext::ForClient(const std::string& ca_file) {
  auto context = MakeContext(::TLS_client_method());
  if (!context) return FailTls("start", "TLS");
  ::SSL_CTX_set_default_verify_paths(context.get());  // without them only `ca_file` is trusted
  ::X509_VERIFY_PARAM_set_flags(::SSL_CTX_get0_param(context.get()), X509_V_FLAG_PARTIAL_CHAIN);
  if (!ca_file.empty() && ::SSL_CTX_load_verify_file(context.get(), ca_file.c_str()) != 1) {
    return FailTls("read the trusted certificates", ca_file);
  }
  return TlsContext(std::move(context));
}

// The first entry of OpenSSL's queue is the cause. The later ones are what failed because of it.
std::string TakeTlsReason() {
  const unsigned long code = ::ERR_get_error();
  ::ERR_clear_error();
  if (ERR_SYSTEM_ERROR(code)) return ErrnoText(static_cast<int>(ERR_GET_REASON(code)));
  const char* const reason = code != 0 ? ::ERR_reason_error_string(code) : nullptr;
  return reason != nullptr ? reason : "unknown failure of TLS";
}

}  // namespace holdfast::transport
