// An HTTP request, and the checks that it must pass before a byte of it is sent.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace holdfast::http {

struct Header {
  std::string name, value;

  friend bool operator==(const Header&, const Header&) = default;
};

enum class Redirects { kFollow, kStop };

struct Request {
  std::string method = {}, url = {};
  std::vector<Header> headers = {};
  // Headers that only the addressed server may see. They are removed, as Authorization and Cookie are, when a redirect
  // leads to another origin.
  std::vector<Header> secret_headers = {};
  std::optional<std::string> body = {};
  std::optional<std::chrono::milliseconds> timeout = {};  // covers everything up to the last byte of the body
  // The limit for resolving the name, connecting, the proxy and TLS together. A working network needs less, and the
  // library's default of five minutes is too long to wait. Each address of a server but the last gets half of the time
  // that is left.
  std::chrono::milliseconds connect_timeout{30'000};
  Redirects redirects = Redirects::kFollow;
  std::string ca_file = {};  // certificates that https trusts besides those of the system; PEM
};

// Returns kInvalidParams with the fault: the method is not a token, or is CONNECT; a HEAD request has a body; the URL
// is neither http nor https; a header is malformed, or belongs to the connection (Connection, Transfer-Encoding, a
// Content-Length that is not the length of the body, ...).
Result<> CheckRequest(const Request& request);

}  // namespace holdfast::http
