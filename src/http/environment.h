// What the server's environment says about the way out, beyond what libcurl reads there by itself (http_proxy,
// https_proxy, HTTPS_PROXY, all_proxy, ALL_PROXY, no_proxy, NO_PROXY).
#pragma once

#include <string>

#include "http/url.h"

namespace holdfast::http {

// HTTP_PROXY, for http URLs when http_proxy is not set; or null. Where REQUEST_METHOD is set the program runs as a CGI,
// and the variable is the Proxy header of whoever made the request.
const char* CapitalHttpProxy(const Url& url);

// Certificate authorities to trust in place of the library's own. Null: none of that kind.
struct Authorities {
  const char* file;       // SSL_CERT_FILE
  const char* directory;  // SSL_CERT_DIR

  bool given() const { return file != nullptr || directory != nullptr; }
};
Authorities GivenAuthorities();

}  // namespace holdfast::http
