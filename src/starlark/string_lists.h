// The methods of strings that make lists of parts, or a string of a list.
#pragma once

#include "base/result.h"
#include "starlark/function.h"
#include "starlark/value.h"

namespace holdfast::starlark {

Result<Value> TextElements(const NativeCall& call);
Result<Value> JoinTexts(const NativeCall& call);
Result<Value> PartitionText(const NativeCall& call);
Result<Value> PartitionTextAtLast(const NativeCall& call);
Result<Value> SplitText(const NativeCall& call);
Result<Value> SplitTextFromEnd(const NativeCall& call);
Result<Value> SplitLines(const NativeCall& call);

}  // namespace holdfast::starlark
