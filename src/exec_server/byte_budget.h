// How much memory large answers may take, all connections together. A request that finds too little left waits for its
// turn; one larger than everything is served alone.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>

namespace holdfast::exec_server {

class ByteBudget {
 public:
  // Bytes taken, until it is destroyed; it may outlive the budget.
  using Lease = std::shared_ptr<void>;
  using Grant = std::move_only_function<void(Lease)>;

  explicit ByteBudget(size_t bytes) : left_(bytes), total_(bytes), self_(std::make_shared<ByteBudget*>(this)) {}
  ByteBudget(const ByteBudget&) = delete;
  ByteBudget& operator=(const ByteBudget&) = delete;

  // Calls `grant` at once or later, in the order of the calls.
  void Take(size_t bytes, Grant grant);

  size_t left() const { return left_; }

 private:
  struct Waiting {
    size_t bytes;
    Grant grant;
  };

  void GiveBack(size_t bytes);
  void GrantWaiting();

  size_t left_;
  const size_t total_;
  std::deque<Waiting> waiting_;
  bool granting_ = false;
  std::shared_ptr<ByteBudget*> self_;  // what a lease holds weakly
};

}  // namespace holdfast::exec_server
