#include "starlark/heap.h"

#include <algorithm>

namespace holdfast::starlark {

Result<> Heap::SpendOnSearch(size_t bytes, size_t wanted_bytes) {
  if (wanted_bytes > bytes) return {};
  // The sizes are limited by the memory, so the product fits.
  return Spend(bytes * (1 + std::min<size_t>(wanted_bytes, bytes - wanted_bytes + 1)) / 16);
}

Result<void*> Heap::Allocate(size_t bytes, size_t alignment) {
  // The difference covers what alignment can cost, and makes objects without any bytes count too.
  TRY_VOID(budget_.Take(bytes + alignment));
  return memory_.allocate(std::max<size_t>(bytes, 1), alignment);
}

Result<std::string_view> Heap::CopyText(std::string_view text) {
  TRY(const std::span<char> copy, NewArray<char>(text.size()));
  std::ranges::copy(text, copy.begin());
  return std::string_view(copy.data(), copy.size());
}

Result<std::span<const Value>> Heap::CopyValues(std::span<const Value> values) {
  TRY(const std::span<Value> copy, NewArray<Value>(values.size()));
  std::ranges::copy(values, copy.begin());
  return copy;
}

}  // namespace holdfast::starlark
