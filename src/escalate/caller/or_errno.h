// A value, or the errno with which a system call of another process fails. The errno goes back to that process, so it
// stays a number.
#pragma once

#include <expected>

namespace holdfast::escalate {

template <typename T = void>
using OrErrno = std::expected<T, int>;

}  // namespace holdfast::escalate
