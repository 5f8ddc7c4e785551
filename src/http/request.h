// An HTTP request to be made, and the checks it must pass before a byte of it leaves.
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
  // Values nobody but the addressed server may see: dropped with Authorization and Cookie when a redirect leaves the
  // origin.
  std::vector<Header> secret_headers = {};
  std::optional<std::string> body = {};
  std::optional<std::chrono::milliseconds> timeout = {};  // for everything, the last byte of the body included
  Redirects redirects = Redirects::kFollow;
};

// kInvalidParams names the fault: the method is no token, or CONNECT; a HEAD has a body; the URL is neither http nor
// https; a header is malformed, or belongs to the connection (Connection, Transfer-Encoding, a Content-Length that is
// not the body's, ...).
Result<> CheckRequest(const Request& request);

}  // namespace holdfast::http
