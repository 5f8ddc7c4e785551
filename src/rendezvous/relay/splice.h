// A Splice connects two pipes: what comes out of one goes into the other, as fast as the slower of the two takes it.
// When one pipe ends, the other is closed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "rendezvous/relay/pipe.h"

namespace holdfast::rendezvous {

class Splice {
 public:
  // `on_ended` is called once, when one of the pipes has ended; it may destroy the splice.
  Splice(std::shared_ptr<Pipe> a, std::shared_ptr<Pipe> b, std::function<void()> on_ended);
  ~Splice();  // closes both pipes
  Splice(const Splice&) = delete;
  Splice& operator=(const Splice&) = delete;

  uint64_t bytes() const;  // in both directions together

 private:
  class Direction;

  void Close();
  void OnEnded();

  const std::shared_ptr<Pipe> a_, b_;
  std::function<void()> on_ended_;
  std::unique_ptr<Direction> there_, back_;
};

}  // namespace holdfast::rendezvous
