// Types of fields beyond the plain ones, and the object without any.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace holdfast::wire {

// A JSON object whose values are all strings, in the order they came.
using StringMap = std::vector<std::pair<std::string, std::string>>;

struct Empty {
  void Fields(auto&) {}
};

// Whether a member is there and not null, for members whose content is not looked at.
struct Given {
  bool given = false;
};

// An enum that travels by name: specialised beside the enum with an array kNames of {name, value}.
template <typename T>
struct EnumNames;

template <typename T>
concept NamedEnum = requires { EnumNames<T>::kNames; };

}  // namespace holdfast::wire
