// Values as texts.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "exec_policy/starlark/heap.h"
#include "exec_policy/starlark/value.h"

namespace holdfast::exec_policy {

// Returns the name of the value's type, such as `string` or `NoneType`.
std::string_view TypeName(const Value& value);

// Returns the value as a program would write it, for messages: long texts are cut.
std::string Shown(const Value& value);

// Returns the value as a program would write it. `...` stands for what is nested very deeply.
Result<std::string_view> Repr(Heap& heap, const Value& value);

// Returns a string itself, and the Repr of other values.
Result<std::string_view> Str(Heap& heap, const Value& value);

}  // namespace holdfast::exec_policy
