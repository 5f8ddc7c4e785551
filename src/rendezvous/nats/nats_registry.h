// The records of this node's executors on their way to the bucket that all nodes share, and the ticket key. What the
// node publishes is kept here, so that a bucket that is lost gets everything back.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "loop/event.h"
#include "loop/scope.h"
#include "loop/task.h"
#include "loop/worker_pool.h"
#include "rendezvous/bus/bus.h"
#include "rendezvous/nats/nats_bucket.h"
#include "rendezvous/nats/nats_connection.h"

namespace holdfast::rendezvous {

class NatsRegistry {
 public:
  struct Settings {
    std::string bucket;
    std::chrono::milliseconds time_to_live;
  };

  NatsRegistry(loop::EventLoop& loop, loop::WorkerPool& workers, Settings settings);

  // Sets the connection to use, and how others find this node. The connection is null while there is none.
  void Use(std::shared_ptr<NatsConnection> connection, NodePlace place);
  const NodePlace& place() const { return place_; }

  enum class Extent { kChanges, kEverything };
  // Makes the bucket agree with the records, and opens it if it is not open. With everything goes the ticket key, and
  // a bucket that is opened is read as well.
  loop::Task<Result<>> Write(Extent extent);
  // Writes whenever something has changed, and everything three times within the time to live. It never returns.
  loop::Task<> KeepWriting();

  void Put(const ExecutorRecord& record);
  void Remove(const std::string& id);
  loop::Task<Result<std::vector<ExecutorRecord>>> Others();
  loop::Task<Result<std::vector<ExecutorElsewhere>>> Find(std::string id);

  // Returns whether the bucket of this connection has been read and written, so that the ticket key is that of all
  // nodes. It is false again after a failure, until another attempt has succeeded.
  bool is_settled() const { return bucket_ != nullptr; }
  // Returns the key as it was settled last; empty before the first time.
  const std::string& ticket_key() const { return ticket_key_; }

 private:
  using Changes = std::vector<std::pair<std::string, std::optional<std::string>>>;  // keys with values; none: removed
  // The work of one call of Write, for a worker.
  struct Round {
    Result<> Run();

    std::shared_ptr<NatsConnection> connection;
    std::shared_ptr<NatsBucket> bucket;  // null: to be opened
    Settings settings;
    std::string node;
    Changes changes;
    std::string ticket_key;  // empty: not to be written
  };

  std::unique_ptr<Round> MakeRound(Extent extent);
  void Discard(std::shared_ptr<void> object);
  loop::Task<> List();
  void OpenAgain(const NatsBucket* used);

  loop::EventLoop& loop_;
  loop::WorkerPool& workers_;
  const Settings settings_;
  std::shared_ptr<NatsConnection> connection_;
  NodePlace place_;
  uint64_t generation_ = 0;             // of the bucket: more with each connection and each bucket that is given up
  std::shared_ptr<NatsBucket> bucket_;  // null until it is open, and after a failure
  std::map<std::string, ExecutorRecord> records_;
  std::set<std::string> changed_;  // the ids whose entries are not as in `records_`
  loop::Event has_changed_;
  const std::string own_key_;  // for a bucket without a key
  std::string ticket_key_;

  // Calls of Others that come during a listing wait for the next one, which answers all of them.
  uint64_t listings_begun_ = 0, listings_ended_ = 0;
  Result<std::vector<ExecutorRecord>> listed_;
  loop::Event has_listed_;
  loop::Scope scope_;
};

}  // namespace holdfast::rendezvous
