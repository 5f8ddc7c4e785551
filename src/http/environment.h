// The settings for outgoing connections in the server's environment, beyond those that libcurl reads by itself
// (http_proxy, https_proxy, HTTPS_PROXY, all_proxy, ALL_PROXY, no_proxy, NO_PROXY).
#pragma once

#include <string>

#include "http/url.h"

namespace holdfast::http {

// Returns HTTP_PROXY for http URLs if http_proxy is not set, and null otherwise. If REQUEST_METHOD is set, the program
// runs as a CGI, and the variable is ignored: it holds the Proxy header of the request, which the sender of the request
// chose.
const char* CapitalHttpProxy(const Url& url);

// The certificate authorities to trust in place of the library's own. A null pointer means that the variable is not
// set.
struct Authorities {
  const char* file;       // SSL_CERT_FILE
  const char* directory;  // SSL_CERT_DIR

  bool given() const { return file != nullptr || directory != nullptr; }
};
Authorities GivenAuthorities();

}  // namespace holdfast::http
