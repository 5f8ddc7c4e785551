// A ResponseHead collects the status line and the headers of the final response from their lines. It skips interim
// responses (1xx) before the final one, and trailers after it. It does no I/O.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "http/exchange.h"

namespace holdfast::http {

class ResponseHead {
 public:
  static constexpr size_t kMaxBytes = 256u << 10;
  static constexpr size_t kMaxHeaders = 1000;

  // Adds one line with its line end. Returns false if the response cannot be used; fault() says why.
  bool Take(std::string_view line);

  bool complete() const { return complete_; }
  const Response& response() const { return response_; }
  const std::string& fault() const { return fault_; }

 private:
  bool TakeStatus(std::string_view line);
  bool TakeHeader(std::string_view line);
  bool Refuse(std::string_view fault);

  Response response_;
  size_t bytes_ = 0;  // bytes of the present response
  bool complete_ = false;
  std::string fault_;
};

}  // namespace holdfast::http
