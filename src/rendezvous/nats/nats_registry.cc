#include "rendezvous/nats/nats_registry.h"

#include <algorithm>

#include "base/log.h"
#include "base/random_id.h"
#include "loop/sleep.h"
#include "rendezvous/nats/executor_entry.h"

namespace holdfast::rendezvous {
namespace {

constexpr std::chrono::milliseconds kPauseAfterFailure{500};

std::unexpected<Error> NotConnected() {
  return Fail(ErrorKind::kDisconnected, "the records of other nodes cannot be read: there is no connection to NATS");
}

Result<std::vector<ExecutorRecord>> RecordsOf(Result<std::vector<ExecutorElsewhere>> found) {
  TRY(auto elsewhere, std::move(found));
  std::vector<ExecutorRecord> records;
  records.reserve(elsewhere.size());
  for (ExecutorElsewhere& it : elsewhere) records.push_back(std::move(it.record));
  return records;
}

}  // namespace

NatsRegistry::NatsRegistry(loop::EventLoop& loop, loop::WorkerPool& workers, Settings settings)
    : loop_(loop), workers_(workers), settings_(std::move(settings)), own_key_(RandomSecret()) {}

void NatsRegistry::Use(std::shared_ptr<NatsConnection> connection, NodePlace place) {
  ++generation_;
  place_ = std::move(place);
  Discard(std::exchange(bucket_, nullptr));
  Discard(std::exchange(connection_, std::move(connection)));
  has_changed_.Notify();
}

// A worker destroys the object, because that may block.
void NatsRegistry::Discard(std::shared_ptr<void> object) {
  if (object != nullptr) workers_.Run([object = std::move(object)]() mutable { object.reset(); }, [] {});
}

void NatsRegistry::Put(const ExecutorRecord& record) {
  records_.insert_or_assign(record.id, record);
  changed_.insert(record.id);
  has_changed_.Notify();
}

void NatsRegistry::Remove(const std::string& id) {
  if (records_.erase(id) == 0) return;
  changed_.insert(id);
  has_changed_.Notify();
}

std::unique_ptr<NatsRegistry::Round> NatsRegistry::MakeRound(Extent extent) {
  auto round = std::make_unique<Round>(connection_, bucket_, settings_, place_.name);
  if (extent == Extent::kEverything) {
    for (const auto& [id, record] : records_) changed_.insert(id);
    round->ticket_key = ticket_key_.empty() ? own_key_ : ticket_key_;
  }
  for (const std::string& id : changed_) {
    const auto found = records_.find(id);
    std::optional<std::string> value;
    if (found != records_.end()) value = EncodeEntry(found->second, place_.url);
    round->changes.emplace_back(EntryKey(place_.name, id), std::move(value));
  }
  return round;
}

Result<> NatsRegistry::Round::Run() {
  const NatsCalls calls(connection->library());
  const bool opens = bucket == nullptr;
  if (opens) {
    TRY(bucket, NatsBucket::Open(connection, settings.bucket, settings.time_to_live));
    if (!bucket->difference().empty()) {
      LogWarn("nats.bucket_differs", {{"bucket", settings.bucket}, {"reason", bucket->difference()}});
    }
  }
  for (const auto& [key, value] : changes) TRY_VOID(value ? bucket->Put(key, *value) : bucket->Remove(key));
  if (!ticket_key.empty()) {
    TRY(ticket_key, bucket->SettleTicketKey(ticket_key));
  }
  if (opens) TRY_VOID(bucket->RecordsOfOthers(node));
  return {};
}

// Changes that come meanwhile stay for the next call, and those that could not be written return.
loop::Task<Result<>> NatsRegistry::Write(Extent extent) {
  if (connection_ == nullptr) co_return Fail(ErrorKind::kDisconnected, "there is no connection to NATS");
  const uint64_t generation = generation_;
  const std::shared_ptr<Round> round = workers_.Share(std::move(*MakeRound(extent)));
  std::set<std::string> written = std::exchange(changed_, {});
  const Result<> result = co_await workers_.Do([round] { return round->Run(); });
  if (!result) changed_.merge(written);
  if (generation != generation_) co_return Fail(ErrorKind::kDisconnected, "the bucket was given up meanwhile");
  Discard(std::exchange(bucket_, result ? round->bucket : nullptr));
  if (result && extent == Extent::kEverything) ticket_key_ = round->ticket_key;
  co_return result;
}

// After a failure the bucket is opened again, and gets all records.
loop::Task<> NatsRegistry::KeepWriting() {
  std::optional<loop::Deadline> refresh;
  refresh.emplace(loop_, settings_.time_to_live / 3);
  for (;;) {
    while (connection_ == nullptr) co_await has_changed_.Next();
    if (bucket_ != nullptr && changed_.empty() && !refresh->passed()) {
      co_await has_changed_.NextBefore(*refresh);
      continue;
    }
    const bool is_due = bucket_ == nullptr || refresh->passed();
    if (is_due) refresh.emplace(loop_, settings_.time_to_live / 3);
    const Result<> written = co_await Write(is_due ? Extent::kEverything : Extent::kChanges);
    if (written) continue;
    if (connection_ != nullptr) LogWarn("nats.bucket_failed", {{"reason", written.error().message}});
    co_await loop::Sleep(loop_, kPauseAfterFailure);
  }
}

// A bucket that could not be read is opened once more.
void NatsRegistry::OpenAgain(const NatsBucket* used) {
  if (used != bucket_.get()) return;
  ++generation_;
  Discard(std::exchange(bucket_, nullptr));
  has_changed_.Notify();
}

// A listing that has begun already may lack what the caller has in mind.
loop::Task<Result<std::vector<ExecutorRecord>>> NatsRegistry::Others() {
  const uint64_t wanted = listings_begun_ + 1;
  while (listings_ended_ < wanted) {
    if (listings_begun_ == listings_ended_) {
      scope_.Start(List());
    } else {
      co_await has_listed_.Next();
    }
  }
  co_return listed_;
}

loop::Task<> NatsRegistry::List() {
  ++listings_begun_;
  listed_ = NotConnected();
  if (const NatsBucket* const used = bucket_.get()) {
    auto work = [bucket = bucket_, node = place_.name] {
      const NatsCalls calls(bucket->library());
      return bucket->RecordsOfOthers(node);
    };
    auto found = co_await workers_.Do(std::move(work));
    if (!found) OpenAgain(used);
    listed_ = RecordsOf(std::move(found));
  }
  listings_ended_ = listings_begun_;
  has_listed_.Notify();
}

loop::Task<Result<std::vector<ExecutorElsewhere>>> NatsRegistry::Find(std::string id) {
  const NatsBucket* const used = bucket_.get();
  if (used == nullptr) co_return NotConnected();
  auto work = [bucket = bucket_, node = place_.name, id] {
    const NatsCalls calls(bucket->library());
    return bucket->RecordsOfOthers(node, id);
  };
  auto found = co_await workers_.Do(std::move(work));
  if (!found) OpenAgain(used);
  co_return found;
}

}  // namespace holdfast::rendezvous
