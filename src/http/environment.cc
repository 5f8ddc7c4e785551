#include "http/environment.h"

#include <cstdlib>

namespace holdfast::http {
namespace {

// An empty variable counts as not set.
const char* Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

}  // namespace

const char* CapitalHttpProxy(const Url& url) {
  if (url.scheme != "http" || Variable("http_proxy") != nullptr) return nullptr;
  if (std::getenv("REQUEST_METHOD") != nullptr) return nullptr;
  return Variable("HTTP_PROXY");
}

Authorities GivenAuthorities() { return {Variable("SSL_CERT_FILE"), Variable("SSL_CERT_DIR")}; }

}  // namespace holdfast::http
