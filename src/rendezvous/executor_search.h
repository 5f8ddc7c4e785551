// The search for a connection that a client can be joined to: one of this node, or else one of another. If
// the executor is known but has none at this moment, the search waits for one, because an executor opens its next
// connection only when it has heard from its last client, or comes back after a pause.
#pragma once

#include <chrono>
#include <expected>
#include <memory>
#include <optional>
#include <string>

#include "loop/event_loop.h"
#include "loop/task.h"
#include "rendezvous/executor_table.h"
#include "rendezvous/link/neighbours.h"
#include "rendezvous/refusal.h"
#include "transport/http_call.h"

namespace holdfast::rendezvous {

struct SearchTimes {
  std::chrono::milliseconds longest{5'000};  // after it the client is refused
  std::chrono::milliseconds interval{200};   // after it the other nodes are asked again
};

struct FoundExecutor {
  std::shared_ptr<Pipe> pipe;
  std::optional<WaitingConnection> connection = {};  // if it is one of this node
};

class ExecutorSearch {
 public:
  ExecutorSearch(loop::EventLoop& loop, Neighbours& neighbours, ExecutorTable& table, SearchTimes times)
      : loop_(loop), neighbours_(neighbours), table_(table), times_(times) {}

  // Returns nothing if the client has hung up, which is noticed when the other nodes are to be asked again. If they
  // cannot be asked, the search still waits for a connection to this node. `call` must outlive the task.
  loop::Task<std::expected<std::optional<FoundExecutor>, Refusal>> Find(const transport::HttpCall& call,
                                                                        std::string id);

 private:
  loop::Task<> AwaitChange(const transport::HttpCall& call, std::string id, std::chrono::milliseconds longest);

  loop::EventLoop& loop_;
  Neighbours& neighbours_;
  ExecutorTable& table_;
  const SearchTimes times_;
};

}  // namespace holdfast::rendezvous
