// A method of the protocol as a type: its name, its params, its result, and the connections that may call it. The name
// of a method or notification stands in methods.h and nowhere else.
#pragma once

#include <algorithm>
#include <cstddef>

namespace holdfast::wire {

// The connections that may call a method of a session: only the one that drives the session, or also those that
// observe it.
enum class Caller { kDriver, kAnyone };

// A string literal that can be a template argument.
template <size_t kSize>
struct MethodName {
  consteval MethodName(const char (&literal)[kSize]) {  // NOLINT(google-explicit-constructor)
    std::ranges::copy(literal, text);
  }

  char text[kSize];
};

template <MethodName kMethodName, typename ParamsStruct, typename ResultStruct, Caller kMethodCaller = Caller::kDriver>
struct Method {
  using Params = ParamsStruct;
  using Result = ResultStruct;
  static constexpr const char* kName = kMethodName.text;
  static constexpr Caller kCaller = kMethodCaller;
};

template <MethodName kMethodName, typename ParamsStruct>
struct Notification {
  using Params = ParamsStruct;
  static constexpr const char* kName = kMethodName.text;
};

}  // namespace holdfast::wire
