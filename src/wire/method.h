// A method of the protocol as a type: its name, its params, its result, and the connections that may call it. The name
// of a method or notification stands in methods.h and nowhere else.
#pragma once

#include <algorithm>
#include <cstddef>

namespace holdfast::wire {

// The connections that may call a method of a session: only the one that drives the session, or also those that
// observe it.
enum class Caller { kDriver, kDriverOrObserver };

// A string literal that can be a template argument.
template <size_t Size>
struct MethodName {
  consteval MethodName(const char (&literal)[Size]) {  // NOLINT(google-explicit-constructor)
    std::ranges::copy(literal, text);
  }

  char text[Size];
};

template <MethodName Name, typename ParamsStruct, typename ResultStruct, Caller Allowed = Caller::kDriver>
struct Method {
  using Params = ParamsStruct;
  using Result = ResultStruct;
  static constexpr const char* kName = Name.text;
  static constexpr Caller kCaller = Allowed;
};

template <MethodName Name, typename ParamsStruct>
struct Notification {
  using Params = ParamsStruct;
  static constexpr const char* kName = Name.text;
};

}  // namespace holdfast::wire
