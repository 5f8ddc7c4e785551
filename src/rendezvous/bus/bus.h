// A Bus connects the nodes of a rendezvous: it tells each node which executors the others have, and joins a client of
// one node to an executor of another. All functions are called on the loop, and all answers come there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "loop/task.h"
#include "rendezvous/relay/pipe.h"

namespace holdfast::rendezvous {

// The facts that a node knows about an executor which has connections to it.
struct ExecutorRecord {
  std::string id;
  std::string name;
  int64_t since_ms = 0;  // when it came, in milliseconds since 1970
  size_t waiting = 0;    // connections that wait for a client
  size_t sessions = 0;   // connections that are joined to a client

  friend bool operator==(const ExecutorRecord&, const ExecutorRecord&) = default;
};

// The side of a node that the bus calls.
class Node {
 public:
  enum class Joined { kYes, kNoneWaits };

  // Joins a client of another node, which is at the far end of the pipe, to a connection of the executor that waits
  // here.
  virtual Joined JoinWaiting(const std::string& id, std::shared_ptr<Pipe> client) = 0;

 protected:
  ~Node() = default;
};

class Bus {
 public:
  virtual ~Bus() = default;

  // Connects to the other nodes. Afterwards `ticket_key` is known: the secret, the same on all nodes, by which they
  // sign and check tickets. It is empty before. While the bus is not connected, the other nodes may agree on another
  // key, so that nothing is signed then, and a ticket that is not valid may be valid later.
  virtual loop::Task<Result<>> Start(Node& node) = 0;
  virtual const std::string& ticket_key() const = 0;

  // Tells the other nodes about an executor of this node, as often as the record changes. A node that dies takes its
  // records with it, after a while.
  virtual void Publish(const ExecutorRecord& record) = 0;
  virtual void Withdraw(const std::string& id) = 0;

  // Returns the records of all other nodes. An executor may be in several of them.
  virtual loop::Task<Result<std::vector<ExecutorRecord>>> Others() = 0;

  // Joins to a waiting connection of another node. Fails with kNotFound if no other node has one at this moment, and
  // with kDisconnected or kTimeout if the other nodes could not be asked.
  virtual loop::Task<Result<std::shared_ptr<Pipe>>> Join(std::string id) = 0;

  // Returns whether the way to the other nodes is there, the records can be read and written, and the ticket key is
  // that of all nodes; /readyz answers by it.
  virtual bool connected() const = 0;
};

}  // namespace holdfast::rendezvous
