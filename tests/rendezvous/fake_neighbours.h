// Other nodes that are the test.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "rendezvous/link/neighbours.h"

namespace holdfast::rendezvous {

class FakeNeighbours final : public Neighbours {
 public:
  loop::Task<std::expected<std::shared_ptr<Pipe>, NotElsewhere>> Join(std::string) override {
    if (on_join) on_join();
    if (waiting == nullptr) co_return std::unexpected(why_not);
    co_return std::exchange(waiting, nullptr);
  }

  std::shared_ptr<Pipe> waiting;                  // a connection of another node
  NotElsewhere why_not = NotElsewhere::kUnknown;  // if none waits
  std::function<void()> on_join;                  // called while the other nodes are asked; may be empty
};

}  // namespace holdfast::rendezvous
