// The check of a server's certificate by a client, and what is wrong with a certificate in words.
#pragma once

#include <string>

struct ssl_st;

namespace holdfast::transport {

// Makes the handshake fail unless the certificate of the server is trusted and valid for `host`, a name or a literal
// address. The reason is then stored in `failure`, which must outlive the handshake.
void ExpectServer(ssl_st& ssl, const std::string& host, std::string& failure);

}  // namespace holdfast::transport
