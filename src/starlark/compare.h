// Equality, order, hashes and truth of values, and the lookup of keys in a dict.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>

#include "base/result.h"
#include "starlark/dict.h"
#include "starlark/heap.h"
#include "starlark/value.h"

namespace holdfast::starlark {

bool Truth(const Value& value);

// Values of different types are never equal. The comparison fails for values that are nested too deeply.
Result<bool> Equal(Heap& heap, const Value& left, const Value& right);

// Fails for values that have no order.
Result<std::strong_ordering> Order(Heap& heap, const Value& left, const Value& right);

// Returns the entry of the key, or null. A list or a dict cannot be a key.
Result<Dict::Entry*> Lookup(Heap& heap, const Dict& dict, const Value& key);

// Sets the value of a key, unless a loop holds the dict.
Result<> Store(Heap& heap, Dict& dict, const Value& key, const Value& value);

}  // namespace holdfast::starlark
