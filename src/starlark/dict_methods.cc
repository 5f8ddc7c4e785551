#include "starlark/native.h"

#include <array>

#include "starlark/arguments.h"
#include "starlark/compare.h"
#include "starlark/description.h"
#include "starlark/diagnostic.h"
#include "starlark/iteration.h"
#include "starlark/list.h"

namespace holdfast::starlark {
namespace {

Dict& Self(const NativeCall& call) { return *std::get<Dict*>(call.self); }

Result<> StoreAll(Heap& heap, Dict& dict, const Value& source) {
  TRY(const auto items, AllItems(heap, source));
  const auto* const other = std::get_if<Dict*>(&source);
  for (const Value& item : items) {
    if (other != nullptr) {
      TRY(const Dict::Entry* const entry, Lookup(heap, **other, item));
      TRY_VOID(Store(heap, dict, item, entry->value));
      continue;
    }
    TRY(const auto pair, AllItems(heap, item));
    if (pair.size() != 2) return Mistake("an entry of a dict is made from 2 items, not from {}", pair.size());
    TRY_VOID(Store(heap, dict, pair[0], pair[1]));
  }
  return {};
}

// Makes a list of `part(entry)` of all entries.
Result<Value> ListOf(const NativeCall& call, const auto& part) {
  TRY_VOID(NoArguments(call));
  TRY(List* const list, call.heap.New<List>());
  for (const Dict::Entry& entry : Self(call).entries()) {
    TRY_VOID(call.heap.Spend(1));
    if (!entry.live) continue;
    TRY(const Value value, part(entry));
    TRY_VOID(list->Append(call.heap, value));
  }
  return list;
}

Result<Value> Clear(const NativeCall& call) {
  TRY_VOID(NoArguments(call));
  TRY_VOID(Self(call).CheckChangeable());
  Self(call).Clear();
  return None{};
}

Result<Value> Get(const NativeCall& call) {
  TRY(const auto arguments, Arguments<2>(call, 1, {"key", "default"}));
  TRY(const Dict::Entry* const entry, Lookup(call.heap, Self(call), *arguments[0]));
  return entry != nullptr ? entry->value : arguments[1].value_or(None{});
}

Result<Value> Items(const NativeCall& call) {
  return ListOf(call, [&](const Dict::Entry& entry) -> Result<Value> {
    return MakeTuple(call.heap, std::array{entry.key, entry.value});
  });
}

Result<Value> Keys(const NativeCall& call) {
  return ListOf(call, [](const Dict::Entry& entry) -> Result<Value> { return entry.key; });
}

Result<Value> Values(const NativeCall& call) {
  return ListOf(call, [](const Dict::Entry& entry) -> Result<Value> { return entry.value; });
}

Result<Value> Pop(const NativeCall& call) {
  TRY(const auto arguments, Arguments<2>(call, 1, {"key", "default"}));
  TRY(Dict::Entry* const entry, Lookup(call.heap, Self(call), *arguments[0]));
  TRY_VOID(Self(call).CheckChangeable());
  if (entry == nullptr) {
    if (!arguments[1]) return Mistake("the dict has no key {}", Shown(*arguments[0]));
    return *arguments[1];
  }
  const Value value = entry->value;
  Self(call).Remove(*entry);
  return value;
}

Result<Value> PopItem(const NativeCall& call) {
  TRY_VOID(NoArguments(call));
  TRY_VOID(Self(call).CheckChangeable());
  for (const Dict::Entry& first : Self(call).entries()) {
    TRY_VOID(call.heap.Spend(1));
    if (!first.live) continue;
    TRY(const Tuple* const pair, MakeTuple(call.heap, std::array{first.key, first.value}));
    TRY(Dict::Entry* const entry, Lookup(call.heap, Self(call), first.key));
    Self(call).Remove(*entry);
    return pair;
  }
  return Mistake("the dict is empty");
}

Result<Value> SetDefault(const NativeCall& call) {
  TRY(const auto arguments, Arguments<2>(call, 1, {"key", "default"}));
  TRY(const Dict::Entry* const entry, Lookup(call.heap, Self(call), *arguments[0]));
  if (entry != nullptr) return entry->value;
  const Value value = arguments[1].value_or(None{});
  TRY_VOID(Store(call.heap, Self(call), *arguments[0], value));
  return value;
}

Result<Value> Update(const NativeCall& call) {
  TRY_VOID(Self(call).CheckChangeable());
  TRY_VOID(UpdateDict(call, Self(call)));
  return None{};
}

}  // namespace

Result<> UpdateDict(const NativeCall& call, Dict& dict) {
  if (call.positional.size() > 1) return Mistake("{}() takes at most one positional argument", call.name);
  if (!call.positional.empty()) TRY_VOID(StoreAll(call.heap, dict, call.positional[0]));
  for (const auto& [name, value] : call.named) TRY_VOID(Store(call.heap, dict, name, value));
  return {};
}

std::span<const NativeEntry> DictMethods() {
  static constexpr auto kMethods = std::to_array<NativeEntry>({
      {"clear", Clear},
      {"get", Get},
      {"items", Items},
      {"keys", Keys},
      {"pop", Pop},
      {"popitem", PopItem},
      {"setdefault", SetDefault},
      {"update", Update},
      {"values", Values},
  });
  return kMethods;
}

}  // namespace holdfast::starlark
