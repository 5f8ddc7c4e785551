// The bodies of HTTP responses that are under way. They belong to a connection and fail with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "loop/event.h"
#include "wire/http_messages.h"

namespace holdfast::client {

struct HttpBody {
  std::deque<std::string> pieces = {};
  size_t queued_bytes = 0;
  uint64_t next_seq = 1;
  bool done = false;
  std::optional<Error> error = {};
  loop::Event changed = {};
};

class HttpBodies {
 public:
  // Returns a body that the pieces with this request id are added to, until it is done or released.
  std::shared_ptr<HttpBody> Expect(const std::string& request_id);
  void OnDelta(wire::HttpBodyDeltaParams delta);
  void FailAll(const Error& error);

  // Returns whether a body has so many pieces that nobody has taken that the connection must not be read.
  bool full() const;

 private:
  static constexpr size_t kMaxQueuedBytes = 4 << 20;

  std::map<std::string, std::weak_ptr<HttpBody>, std::less<>> bodies_;
};

}  // namespace holdfast::client
