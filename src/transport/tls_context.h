// A TlsContext has what the TLS connections of one listener, or of one client, have in common: a certificate, or the
// roots that are trusted. Only TLS 1.3, and 1.2 with its better suites, are spoken. OpenSSL stays in the .cc files.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

struct ssl_ctx_st;

namespace holdfast::transport {

class TlsContext {
 public:
  // Reads the certificate chain and the private key of a server, both in PEM. Fails if a file cannot be read, is not a
  // regular file or may be changed by every user, or if the key does not belong to the certificate.
  static Result<TlsContext> ForServer(const std::string& certificate_file, const std::string& key_file);

  // Trusts the roots of the system, and the certificates in `ca_file` if that is not empty. A certificate in that file
  // is trusted even if it was issued by an unknown authority.
  static Result<TlsContext> ForClient(const std::string& ca_file);

  ssl_ctx_st* get() const { return context_.get(); }

 private:
  explicit TlsContext(std::shared_ptr<ssl_ctx_st> context) : context_(std::move(context)) {}

  std::shared_ptr<ssl_ctx_st> context_;
};

// Returns the reason of the last failure of OpenSSL on this thread, and forgets it.
std::string TakeTlsReason();

}  // namespace holdfast::transport
