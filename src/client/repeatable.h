// The methods that a client may call again when the connection is lost before the answer: a second execution of them
// changes nothing.
#pragma once

#include "wire/methods.h"

namespace holdfast::client {

// A method that observers may call only looks, with the exceptions below.
template <typename Method>
inline constexpr bool kRepeatable = Method::kCaller == wire::Caller::kDriverOrObserver;
// Observers may call these two as well, and they change the roles of a session.
template <>
inline constexpr bool kRepeatable<wire::Initialize> = false;
template <>
inline constexpr bool kRepeatable<wire::SessionTakeOver> = false;

template <>
inline constexpr bool kRepeatable<wire::ProcessCloseStdin> = true;
template <>
inline constexpr bool kRepeatable<wire::ProcessResize> = true;
template <>
inline constexpr bool kRepeatable<wire::ProcessTerminate> = true;

}  // namespace holdfast::client
