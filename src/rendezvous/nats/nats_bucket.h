// The key-value bucket of JetStream that the nodes share. Its entries vanish when they are not written again within
// their time to live. All functions block and are called on workers.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rendezvous/bus/bus.h"
#include "rendezvous/nats/nats_connection.h"

namespace holdfast::rendezvous {

class NatsBucket {
 public:
  // Opens the bucket, or makes it: in memory, on three servers if the cluster has so many.
  static Result<std::shared_ptr<NatsBucket>> Open(std::shared_ptr<NatsConnection> connection, const std::string& name,
                                                  std::chrono::milliseconds time_to_live);

  // Returns what is different in a bucket that was made with other settings; empty if nothing is.
  const std::string& difference() const { return difference_; }

  const NatsLibrary& library() const { return library_; }

  Result<> Put(const std::string& key, const std::string& value);
  Result<> Remove(const std::string& key);

  // Makes `ours` the ticket key of the bucket if it has none, and keeps the one that it has alive. Returns that one.
  Result<std::string> SettleTicketKey(const std::string& ours);

  // Return the records of all nodes but `node`: of all executors, or of one. Entries that are not records are left out.
  Result<std::vector<ExecutorElsewhere>> RecordsOfOthers(std::string_view node);
  Result<std::vector<ExecutorElsewhere>> RecordsOfOthers(std::string_view node, std::string_view executor_id);

 private:
  using Context = std::unique_ptr<jsCtx, decltype(&::jsCtx_Destroy)>;
  using Store = std::unique_ptr<kvStore, decltype(&::kvStore_Destroy)>;
  using Entry = std::unique_ptr<kvEntry, decltype(&::kvEntry_Destroy)>;

  NatsBucket(std::shared_ptr<NatsConnection> connection, Context context);
  Result<> BindOrMake(const std::string& name, std::chrono::milliseconds time_to_live);
  natsStatus Make(const std::string& name, std::chrono::milliseconds time_to_live, int replicas);
  void Compare(const std::string& name, std::chrono::milliseconds time_to_live);
  Result<Entry> Get(const std::string& key);
  Result<std::vector<ExecutorElsewhere>> Read(const std::string& keys, std::string_view node);
  Result<std::vector<ExecutorElsewhere>> List(const std::string& keys, std::string_view node);
  std::string_view ValueOf(const Entry& entry) const;

  const std::shared_ptr<NatsConnection> connection_;
  const NatsLibrary& library_;
  const Context context_;
  Store store_;
  std::string difference_;
};

}  // namespace holdfast::rendezvous
