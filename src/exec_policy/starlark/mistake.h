// The errors of a program: a mistake is an Error whose place the parser or the evaluator adds.
#pragma once

#include <expected>
#include <utility>

#include <fmt/format.h>

#include "base/result.h"

namespace holdfast::exec_policy {

template <typename... Arguments>
std::unexpected<Error> Mistake(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  return Fail(ErrorKind::kInvalidParams, fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace holdfast::exec_policy
