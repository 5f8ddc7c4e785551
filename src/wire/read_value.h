// These functions read one value of a message into a C++ object. Each returns the fault if the value is of another
// kind, and then leaves the object as it was.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wire/field_types.h"
#include "wire/json.h"

namespace holdfast::wire {

using ValueFault = std::optional<std::string>;

ValueFault ReadValue(Json json, std::string& value);
ValueFault ReadValue(Json json, std::string_view& value);  // a view of the message: base64, which is decoded later
ValueFault ReadValue(Json json, bool& value);
ValueFault ReadValue(Json json, int64_t& value);
ValueFault ReadValue(Json json, uint64_t& value);
ValueFault ReadValue(Json json, uint16_t& value);
ValueFault ReadValue(Json json, Bytes& value);
ValueFault ReadValue(Json json, Given& value);
ValueFault ReadValue(Json json, RawJson& value);
ValueFault ReadValue(Json json, Json& value);  // a view of the message, decoded later

std::string ExpectedFault(std::string_view expected, Json got);

template <NamedEnum T>
ValueFault ReadValue(Json json, T& value) {
  const auto text = json.string();
  if (!text) return ExpectedFault("a string", json);
  for (const auto& [name, alternative] : EnumNames<T>::kNames) {
    if (*text != name) continue;
    value = alternative;
    return std::nullopt;
  }
  return "is not one of the known values";
}

}  // namespace holdfast::wire
