#include "wire/read_value.h"

#include <limits>

#include <fmt/format.h>

#include "base/base64.h"
#include "wire/json_text.h"

namespace holdfast::wire {
namespace {

template <typename T, typename U>
ValueFault Keep(const std::optional<T>& read, U& value, std::string_view expected, Json json) {
  if (!read) return ExpectedFault(expected, json);
  value = U(*read);
  return std::nullopt;
}

}  // namespace

std::string ExpectedFault(std::string_view expected, Json got) {
  return fmt::format("expected {}, got {}", expected, got.kind());
}

ValueFault ReadValue(Json json, std::string& value) { return Keep(json.string(), value, "a string", json); }
ValueFault ReadValue(Json json, std::string_view& value) { return Keep(json.string(), value, "a string", json); }
ValueFault ReadValue(Json json, bool& value) { return Keep(json.boolean(), value, "a boolean", json); }
ValueFault ReadValue(Json json, int64_t& value) { return Keep(json.int64(), value, "a whole number", json); }

ValueFault ReadValue(Json json, uint64_t& value) {
  return Keep(json.uint64(), value, "a whole number that is not negative", json);
}

ValueFault ReadValue(Json json, uint16_t& value) {
  auto number = json.uint64();
  if (number && *number > std::numeric_limits<uint16_t>::max()) number.reset();
  return Keep(number, value, "a whole number from 0 to 65535", json);
}

ValueFault ReadValue(Json json, Bytes& value) {
  const auto text = json.string();
  if (!text) return ExpectedFault("a string", json);
  auto bytes = Base64Decode(*text);
  if (!bytes) return "is not base64";
  value = Bytes::Owned(*std::move(bytes));
  return std::nullopt;
}

ValueFault ReadValue(Json json, Given& value) {
  value.given = !json.is_null();
  return std::nullopt;
}

ValueFault ReadValue(Json json, RawJson& value) {
  value.text.clear();
  AppendJson(value.text, json);
  return std::nullopt;
}

ValueFault ReadValue(Json json, Json& value) {
  value = json;
  return std::nullopt;
}

}  // namespace holdfast::wire
