// The owner of a syntax tree. Its memory is at most some forty times as large as the text.
#pragma once

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace holdfast::starlark {

class Tree {
 public:
  template <typename T>
  T* Make(T node) {
    static_assert(std::is_trivially_destructible_v<T>);
    return ::new (memory_.allocate(sizeof(T), alignof(T))) T(node);
  }

  template <typename T>
  std::span<const T> Copy(std::span<const T> nodes) {
    static_assert(std::is_trivially_destructible_v<T>);
    if (nodes.empty()) return {};
    T* const first = static_cast<T*>(memory_.allocate(nodes.size_bytes(), alignof(T)));
    std::uninitialized_copy(nodes.begin(), nodes.end(), first);
    return {first, nodes.size()};
  }

  std::string_view Copy(std::string_view text) {
    const auto copy = Copy(std::span<const char>(text));
    return {copy.data(), copy.size()};
  }

 private:
  std::pmr::monotonic_buffer_resource memory_;
};

// The items of a list whose end the parser has not reached. Lists nest, so all of them share one stack, and most lists
// need no memory of their own.
template <typename T>
class Gathered {
 public:
  explicit Gathered(std::vector<T>& stack) : stack_(stack), begin_(stack.size()) {}
  ~Gathered() { stack_.resize(begin_); }
  Gathered(const Gathered&) = delete;
  Gathered& operator=(const Gathered&) = delete;

  void Add(T item) { stack_.push_back(item); }
  // Valid until anything is added to the stack.
  std::span<const T> items() const { return std::span<const T>(stack_).subspan(begin_); }

 private:
  std::vector<T>& stack_;
  size_t begin_;
};

}  // namespace holdfast::starlark
