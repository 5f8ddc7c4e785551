// The check of a server's certificate by a client, and what is wrong with a certificate in words.
#pragma once

#include <string>

struct ssl_st;

namespace holdfast::transport {

// The time at which a client decides whether it trusts the certificate of a server. With kLater every certificate
// passes the handshake.
enum class TrustDecision { kInHandshake, kLater };

// Checks in the handshake whether the certificate of the server is trusted and valid for `host`, a name or a literal
// address. The reason why it is not is stored in `distrust`, which must outlive the handshake.
void ExpectServer(ssl_st& ssl, const std::string& host, TrustDecision decision, std::string& distrust);

}  // namespace holdfast::transport
