// The other nodes of a rendezvous, as the search for an executor uses them.
#pragma once

#include <expected>
#include <memory>
#include <string>

#include "loop/task.h"
#include "rendezvous/relay/pipe.h"

namespace holdfast::rendezvous {

// The reason why a client cannot be joined to an executor of another node at this moment.
enum class NotElsewhere {
  kUnknown,      // no other node has the executor
  kNoneWaits,    // it has no connection for another client
  kUnreachable,  // the node that has one cannot be dialled
  kNotReady,     // the records of the other nodes cannot be read
};

class Neighbours {
 public:
  virtual ~Neighbours() = default;

  // Takes a waiting connection of the executor at another node, and returns the way there.
  virtual loop::Task<std::expected<std::shared_ptr<Pipe>, NotElsewhere>> Join(std::string id) = 0;
};

}  // namespace holdfast::rendezvous
