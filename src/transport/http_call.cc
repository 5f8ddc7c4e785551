#include "transport/http_call.h"

#include <algorithm>

#include "base/ascii.h"

namespace holdfast::transport {
namespace {

bool IsSameName(std::string_view left, std::string_view right) {
  return std::ranges::equal(left, right, {}, AsciiLower, AsciiLower);
}

}  // namespace

std::vector<std::string_view> HttpMessage::HeaderValues(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const auto& [header, value] : headers) {
    if (IsSameName(header, name)) values.push_back(value);
  }
  return values;
}

}  // namespace holdfast::transport
