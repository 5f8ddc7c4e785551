// The methods of strings that make lists of parts, or a string of a list.
#pragma once

#include "base/result.h"
#include "exec_policy/starlark/function.h"
#include "exec_policy/starlark/value.h"

namespace holdfast::exec_policy {

Result<Value> TextElements(const NativeCall& call);
Result<Value> JoinTexts(const NativeCall& call);
Result<Value> PartitionText(const NativeCall& call);
Result<Value> PartitionTextAtLast(const NativeCall& call);
Result<Value> SplitText(const NativeCall& call);
Result<Value> SplitTextFromEnd(const NativeCall& call);
Result<Value> SplitLines(const NativeCall& call);

}  // namespace holdfast::exec_policy
