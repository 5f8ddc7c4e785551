// The URL under which executors and clients reach a node.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "transport/http_call.h"
#include "transport/security.h"

namespace holdfast::rendezvous {

class PublicUrl {
 public:
  // The node is reached under this http or https URL, which may have a path that a proxy in front of the node removes.
  static Result<PublicUrl> Parse(std::string_view url);

  // The node is reached under the name that each request has in its Host header. `bound` is the HOST:PORT that stands
  // in for a header that is malformed or absent.
  static PublicUrl OfRequests(transport::Security security, std::string bound);

  // Returns the URL to which the executor `id` connects after the request.
  std::string ForExecutor(const transport::HttpMessage& request, std::string_view id, std::string_view ticket) const;

 private:
  PublicUrl(std::string scheme, std::string fixed, std::string bound)
      : scheme_(std::move(scheme)), fixed_(std::move(fixed)), bound_(std::move(bound)) {}

  std::string scheme_;  // "ws" or "wss"
  std::string fixed_;   // host, port and path; empty if the requests name the host
  std::string bound_;
};

}  // namespace holdfast::rendezvous
