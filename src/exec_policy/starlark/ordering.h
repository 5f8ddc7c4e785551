// The builtins that put values in order.
#pragma once

#include "base/result.h"
#include "exec_policy/starlark/function.h"
#include "exec_policy/starlark/value.h"

namespace holdfast::exec_policy {

Result<Value> Max(const NativeCall& call);
Result<Value> Min(const NativeCall& call);
Result<Value> Sorted(const NativeCall& call);

}  // namespace holdfast::exec_policy
