// The functions of the language itself, and what they share.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "starlark/dict.h"
#include "starlark/function.h"
#include "starlark/value.h"

namespace holdfast::starlark {

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

// What the method `update` and the function `dict` share: stores the entries of the call's only positional argument,
// which is a dict or has pairs as its items, and then the named arguments.
Result<> UpdateDict(const NativeCall& call, Dict& dict);

}  // namespace holdfast::starlark
