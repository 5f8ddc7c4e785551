#include "http/response_head.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>
#include <utility>

#include "base/ascii.h"
#include "http/syntax.h"

namespace holdfast::http {
namespace {

constexpr uint16_t kFirstFinalStatus = 200;
constexpr size_t kStatusDigits = 3;

}  // namespace

bool ResponseHead::Take(std::string_view line) {
  if (complete_) return true;
  if (line.starts_with("HTTP/")) return TakeStatus(line);
  bytes_ += line.size();
  if (bytes_ > kMaxBytes) return Refuse("the response's headers are too large");
  const std::string_view text = line.substr(0, line.find_last_not_of("\r\n") + 1);
  if (!text.empty()) return TakeHeader(text);
  complete_ = response_.status >= kFirstFinalStatus;
  return true;
}

bool ResponseHead::TakeStatus(std::string_view line) {
  response_ = {};
  bytes_ = line.size();
  const std::string_view digits = Trimmed(line.substr(std::min(line.find(' '), line.size()))).substr(0, kStatusDigits);
  const char* end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, response_.status);
  if (digits.size() != kStatusDigits || parsed.ec != std::errc() || parsed.ptr != end || digits[0] == '0') {
    return Refuse("the response has no status");
  }
  return true;
}

// A line that begins with a blank continues the value before it.
bool ResponseHead::TakeHeader(std::string_view line) {
  if (IsBlank(line[0]) && !response_.headers.empty()) {
    response_.headers.back().value.append(" ").append(Trimmed(line));
    return true;
  }
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) return Refuse("the response has a malformed header");
  if (response_.headers.size() == kMaxHeaders) return Refuse("the response has too many headers");
  Header header{std::string(Trimmed(line.substr(0, colon))), std::string(Trimmed(line.substr(colon + 1)))};
  std::ranges::transform(header.name, header.name.begin(), AsciiLower);
  response_.headers.push_back(std::move(header));
  return true;
}

bool ResponseHead::Refuse(std::string_view fault) {
  fault_ = fault;
  return false;
}

}  // namespace holdfast::http
