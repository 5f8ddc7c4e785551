// The arguments of a call, and the parameters of a function of the program that they become.
#pragma once

#include <vector>

#include "base/result.h"
#include "exec_policy/starlark/function.h"
#include "exec_policy/starlark/heap.h"
#include "exec_policy/starlark/value.h"

namespace holdfast::exec_policy {

struct CallArguments {
  std::vector<Value> positional;
  std::vector<NamedValue> named;
};

// Sets the variables of the parameters in the frame of a call.
Result<> BindParameters(Heap& heap, const Closure& closure, const CallArguments& arguments, const Frame& frame);

}  // namespace holdfast::exec_policy
