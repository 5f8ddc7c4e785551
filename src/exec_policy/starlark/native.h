// The functions of the language itself, and what they share.
#pragma once

#include <span>
#include <string_view>

#include "exec_policy/starlark/function.h"
#include "exec_policy/starlark/value.h"

namespace holdfast::exec_policy {

struct NativeEntry {
  std::string_view name;
  NativeCode code;
};

// The functions that every program can use, such as `len`.
std::span<const NativeEntry> Builtins();

// The methods of each type.
std::span<const NativeEntry> StringMethods();
std::span<const NativeEntry> ListMethods();
std::span<const NativeEntry> DictMethods();

// Returns the method of a value, or null.
const NativeEntry* FindMethod(const Value& object, std::string_view name);

}  // namespace holdfast::exec_policy
