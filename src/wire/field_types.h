// The types of fields beyond strings, numbers and booleans, and the struct without fields.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace holdfast::wire {

// A JSON object whose values are all strings. The members keep the order that they have in the message.
using StringMap = std::vector<std::pair<std::string, std::string>>;

struct Empty {
  void Fields(auto&) {}
};

// A member whose content does not matter: `given` tells whether the member is there and is not null.
struct Given {
  bool given = false;
};

// The names by which the values of an enum are sent. A specialisation stands beside each such enum and has an array
// kNames of {name, value}.
template <typename T>
struct EnumNames;

template <typename T>
concept NamedEnum = requires { EnumNames<T>::kNames; };

}  // namespace holdfast::wire
