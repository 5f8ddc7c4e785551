#include "exec_policy/starlark/heap.h"

#include <algorithm>

namespace holdfast::exec_policy {

std::unexpected<Error> Heap::OutOfSteps() { return Fail(ErrorKind::kLimit, "the program takes too many steps"); }

std::unexpected<Error> Heap::OutOfMemory() { return Fail(ErrorKind::kLimit, "the program needs too much memory"); }

Result<> Heap::SpendOnSearch(size_t bytes, size_t wanted_bytes) {
  if (wanted_bytes > bytes) return {};
  // The sizes are limited by the memory, so the product fits.
  return Spend(bytes * std::min<size_t>(wanted_bytes, bytes - wanted_bytes + 1) / 64);
}

Result<void*> Heap::Allocate(size_t bytes, size_t alignment) {
  // The difference covers what alignment can cost, and makes objects without any bytes count too.
  const size_t cost = bytes + alignment;
  if (cost > bytes_left_) return OutOfMemory();
  bytes_left_ -= cost;
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

}  // namespace holdfast::exec_policy
