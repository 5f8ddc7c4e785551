// The operators of the language, but for `and`, `or` and `not`, which do not evaluate all operands.
#pragma once

#include "base/result.h"
#include "exec_policy/starlark/heap.h"
#include "exec_policy/starlark/syntax.h"
#include "exec_policy/starlark/value.h"

namespace holdfast::exec_policy {

Result<Value> ApplyBinary(Heap& heap, Operator op, const Value& left, const Value& right);
Result<Value> ApplyUnary(Heap& heap, Operator op, const Value& operand);

}  // namespace holdfast::exec_policy
