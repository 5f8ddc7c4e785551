// The methods of lists.
#include <algorithm>
#include <array>

#include "starlark/arguments.h"
#include "starlark/compare.h"
#include "starlark/diagnostic.h"
#include "starlark/iteration.h"
#include "starlark/list.h"
#include "starlark/native.h"

namespace holdfast::starlark {
namespace {

List& Self(const NativeCall& call) { return *std::get<List*>(call.self); }

// Returns the place of the first item from `begin` to `end` that is equal to the value.
Result<size_t> Find(const NativeCall& call, const Value& value, size_t begin, size_t end) {
  for (size_t index = begin; index < end; ++index) {
    TRY(const bool same, Equal(call.heap, Self(call).items()[index], value));
    if (same) return index;
  }
  return Mistake("the list does not contain the value");
}

// Returns the place that an index means, which is brought into the list.
size_t Place(int64_t index, size_t size) {
  const auto length = static_cast<int64_t>(size);
  return static_cast<size_t>(std::clamp(index < 0 ? index + length : index, int64_t{0}, length));
}

Result<Value> Append(const NativeCall& call) {
  TRY(const Value value, OnlyArgument(call));
  TRY_VOID(Self(call).CheckChangeable());
  TRY_VOID(Self(call).Append(call.heap, value));
  return None{};
}

Result<Value> Clear(const NativeCall& call) {
  TRY_VOID(NoArguments(call));
  TRY_VOID(Self(call).CheckChangeable());
  Self(call).Clear();
  return None{};
}

Result<Value> Extend(const NativeCall& call) {
  TRY(const Value values, OnlyArgument(call));
  TRY_VOID(Self(call).CheckChangeable());
  TRY(const auto items, AllItems(call.heap, values));
  TRY_VOID(Self(call).Extend(call.heap, items));
  return None{};
}

Result<Value> Index(const NativeCall& call) {
  TRY(const auto arguments, Arguments<3>(call, 1, {"value", "begin", "end"}));
  const size_t size = Self(call).size();
  TRY(const int64_t begin, NumberArgument(call, arguments[1].value_or(int64_t{0})));
  TRY(const int64_t end, NumberArgument(call, arguments[2].value_or(static_cast<int64_t>(size))));
  TRY(const size_t place, Find(call, *arguments[0], Place(begin, size), Place(end, size)));
  return static_cast<int64_t>(place);
}

Result<Value> Insert(const NativeCall& call) {
  TRY(const auto arguments, Arguments<2>(call, 2, {"index", "value"}));
  TRY(const int64_t index, NumberArgument(call, *arguments[0]));
  TRY_VOID(Self(call).CheckChangeable());
  TRY_VOID(Self(call).Insert(call.heap, Place(index, Self(call).size()), *arguments[1]));
  return None{};
}

Result<Value> Pop(const NativeCall& call) {
  TRY(const auto arguments, Arguments<1>(call, 0, {"index"}));
  TRY(const int64_t index, NumberArgument(call, arguments[0].value_or(int64_t{-1})));
  const auto length = static_cast<int64_t>(Self(call).size());
  const int64_t place = index < 0 ? index + length : index;
  if (place < 0 || place >= length)
    return Mistake("the index {} is out of range; there are {} elements", index, length);
  TRY_VOID(Self(call).CheckChangeable());
  const Value value = Self(call).items()[static_cast<size_t>(place)];
  TRY_VOID(Self(call).Erase(call.heap, static_cast<size_t>(place)));
  return value;
}

Result<Value> Remove(const NativeCall& call) {
  TRY(const Value value, OnlyArgument(call));
  TRY_VOID(Self(call).CheckChangeable());
  TRY(const size_t place, Find(call, value, 0, Self(call).size()));
  TRY_VOID(Self(call).Erase(call.heap, place));
  return None{};
}

}  // namespace

std::span<const NativeEntry> ListMethods() {
  static constexpr auto kMethods = std::to_array<NativeEntry>({
      {"append", Append},
      {"clear", Clear},
      {"extend", Extend},
      {"index", Index},
      {"insert", Insert},
      {"pop", Pop},
      {"remove", Remove},
  });
  return kMethods;
}

}  // namespace holdfast::starlark
