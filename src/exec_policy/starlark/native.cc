#include "exec_policy/starlark/native.h"

#include <algorithm>

namespace holdfast::exec_policy {

const NativeEntry* FindMethod(const Value& object, std::string_view name) {
  std::span<const NativeEntry> methods;
  if (std::holds_alternative<std::string_view>(object)) methods = StringMethods();
  if (std::holds_alternative<List*>(object)) methods = ListMethods();
  if (std::holds_alternative<Dict*>(object)) methods = DictMethods();
  const auto found = std::ranges::find(methods, name, &NativeEntry::name);
  return found == methods.end() ? nullptr : &*found;
}

}  // namespace holdfast::exec_policy
