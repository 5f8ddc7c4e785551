// A Bus is what the nodes of a rendezvous share: which executors each of them has, where it is reached, and the key by
// which they recognize each other and their tickets. It carries nothing of what clients and executors say. All
// functions are called on the loop, and all answers come there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "loop/task.h"

namespace holdfast::rendezvous {

// A node as the others find it.
struct NodePlace {
  std::string name;  // a UUID that the node has made up at its start
  std::string url;   // where it is dialled, such as https://192.0.2.7:8070

  friend bool operator==(const NodePlace&, const NodePlace&) = default;
};

// The facts that a node knows about an executor which has connections to it.
struct ExecutorRecord {
  std::string id;
  std::string name;
  int64_t since_ms = 0;  // when it came, in milliseconds since 1970
  size_t waiting = 0;    // connections that wait for a client
  size_t sessions = 0;   // connections that are joined to a client

  friend bool operator==(const ExecutorRecord&, const ExecutorRecord&) = default;
};

// An executor of another node.
struct ExecutorElsewhere {
  ExecutorRecord record;
  NodePlace node;
};

class Bus {
 public:
  virtual ~Bus() = default;

  // Connects to the other nodes. Afterwards `ticket_key` is known: the secret, the same on all nodes, by which they
  // sign and check tickets, and prove themselves to each other. It is empty before. While the bus is not connected, the
  // other nodes may agree on another key, so that nothing is signed then, and a ticket that is not valid may be valid
  // later.
  virtual loop::Task<Result<>> Start() = 0;
  virtual const std::string& ticket_key() const = 0;

  // Returns how the others find this node. Both members are empty if there are no others.
  virtual NodePlace place() const = 0;

  // Tells the other nodes about an executor of this node, as often as the record changes. A node that dies takes its
  // records with it, after a while.
  virtual void Publish(const ExecutorRecord& record) = 0;
  virtual void Withdraw(const std::string& id) = 0;

  // Return the records of all other nodes, and those about one executor. An executor may be in several of them.
  virtual loop::Task<Result<std::vector<ExecutorRecord>>> Others() = 0;
  virtual loop::Task<Result<std::vector<ExecutorElsewhere>>> Find(std::string id) = 0;

  // Returns whether the records can be read and written, and the ticket key is that of all nodes; /readyz answers by
  // it.
  virtual bool connected() const = 0;
};

}  // namespace holdfast::rendezvous
