// Functions that the methods of dicts and the function `dict` share.
#pragma once

#include "base/result.h"
#include "exec_policy/starlark/dict.h"
#include "exec_policy/starlark/function.h"

namespace holdfast::exec_policy {

// Stores the entries of the call's only positional argument, which is a dict or has pairs as its items, and then the
// named arguments.
Result<> UpdateDict(const NativeCall& call, Dict& dict);

}  // namespace holdfast::exec_policy
