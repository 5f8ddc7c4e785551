// The pairs of a client and an executor that are joined on this node. One side of a pair may be on another node.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "loop/event_loop.h"
#include "rendezvous/relay/pipe.h"
#include "rendezvous/relay/splice.h"
#include "transport/connection_slots.h"

namespace holdfast::rendezvous {

struct PairSide {
  std::shared_ptr<Pipe> pipe;
  std::string token_sha256 = {};  // empty for a side on another node, which looks after its own tokens
  transport::Slot slot = {};      // of the token

  bool is_here() const { return !token_sha256.empty(); }
};

class Pairs {
 public:
  struct Pair {
    std::string executor_id;
    PairSide executor, client;
    std::unique_ptr<Splice> splice = {};
    std::unique_ptr<loop::Timer> silence = {};  // null once the client has spoken
  };
  using OnEnded = std::function<void(const Pair& pair)>;

  // A pair whose client has sent no whole message within the time `silence` is ended: until then the executor does not
  // open a connection for the next client. The node of the executor sees whether messages are whole; the other node of
  // a pair ends it only if no byte has passed. `on_ended` is called for each pair that ends, which is destroyed
  // afterwards.
  Pairs(loop::EventLoop& loop, std::chrono::milliseconds silence, OnEnded on_ended)
      : loop_(loop), silence_(silence), on_ended_(std::move(on_ended)) {}

  void Join(std::string executor_id, PairSide executor, PairSide client);
  void EndIf(const std::function<bool(const Pair&)>& ends);

  size_t size() const { return pairs_.size(); }
  size_t CountIf(const std::function<bool(const Pair&)>& counts) const;
  uint64_t relayed_bytes() const;  // of all pairs so far, those that have ended included

 private:
  using List = std::list<Pair>;

  void OnSilence(List::iterator pair);
  void End(List::iterator pair);

  loop::EventLoop& loop_;
  const std::chrono::milliseconds silence_;
  const OnEnded on_ended_;
  uint64_t bytes_of_ended_ = 0;
  List pairs_;
};

}  // namespace holdfast::rendezvous
