// The items of a list whose end the parser has not reached. Lists nest, so all of them share one stack, and most lists
// need no memory of their own.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace holdfast::exec_policy {

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

}  // namespace holdfast::exec_policy
