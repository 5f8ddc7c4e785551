#include "rendezvous/nats/nats_bucket.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/random_id.h"
#include "rendezvous/nats/executor_entry.h"

namespace holdfast::rendezvous {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr char kAllKeys[] = ">";
constexpr char kTicketKey[] = "ticket-key";  // without a dot, so it is not the key of a record
constexpr int64_t kAnswerMs = 2'000;         // for each question to JetStream
constexpr int64_t kEntryMs = 500;            // for the next entry of a listing
constexpr size_t kMaxEntries = 100'000;
constexpr int kReplicas = 3;
constexpr int kAttempts = 4;

// Another participant of NATS may have written something else. No node uses that, so it may be overwritten.
bool IsTicketKey(std::string_view text) {
  static const size_t size = RandomSecret().size();
  return text.size() == size && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

using RecordsByKey = std::map<std::string, ExecutorElsewhere, std::less<>>;

std::vector<ExecutorElsewhere> Values(RecordsByKey by_key) {
  std::vector<ExecutorElsewhere> records;
  for (auto& [key, record] : by_key) records.push_back(std::move(record));
  return records;
}

}  // namespace

NatsBucket::NatsBucket(std::shared_ptr<NatsConnection> connection, Context context)
    : connection_(std::move(connection)),
      library_(connection_->library()),
      context_(std::move(context)),
      store_(nullptr, library_.bucket_destroy) {}

Result<std::shared_ptr<NatsBucket>> NatsBucket::Open(std::shared_ptr<NatsConnection> connection,
                                                     const std::string& name, milliseconds time_to_live) {
  const NatsLibrary& library = connection->library();
  jsOptions options;
  library.js_options_init(&options);
  options.Wait = kAnswerMs;
  jsCtx* raw = nullptr;
  if (const natsStatus status = library.jet_stream(&raw, connection->raw(), &options); status != NATS_OK) {
    return std::unexpected(library.ErrorOf("JetStream", status));
  }
  std::shared_ptr<NatsBucket> bucket(new NatsBucket(std::move(connection), Context(raw, library.js_destroy)));
  TRY_VOID(bucket->BindOrMake(name, time_to_live));
  bucket->Compare(name, time_to_live);
  return bucket;
}

// Another node may make the bucket at the same moment, which is found by the second attempt to open it.
Result<> NatsBucket::BindOrMake(const std::string& name, milliseconds time_to_live) {
  const auto bind = [&] {
    kvStore* raw = nullptr;
    const natsStatus bound = library_.bind_bucket(&raw, context_.get(), name.c_str());
    store_.reset(raw);
    return bound;
  };
  natsStatus status = bind();
  if (status == NATS_NOT_FOUND) {
    status = Make(name, time_to_live, kReplicas);
    if (status != NATS_OK) status = Make(name, time_to_live, 1);
    if (status != NATS_OK && bind() == NATS_OK) status = NATS_OK;
  }
  if (status != NATS_OK) return std::unexpected(library_.ErrorOf(fmt::format("bucket {}", name), status));
  return {};
}

natsStatus NatsBucket::Make(const std::string& name, milliseconds time_to_live, int replicas) {
  kvConfig config;
  library_.bucket_config_init(&config);
  config.Bucket = name.c_str();
  config.Description = "executors of the holdfast rendezvous, and its ticket key";
  config.History = 1;
  config.TTL = nanoseconds(time_to_live).count();
  config.StorageType = js_MemoryStorage;
  config.Replicas = replicas;
  kvStore* raw = nullptr;
  const natsStatus made = library_.create_bucket(&raw, context_.get(), &config);
  store_.reset(raw);
  return made;
}

// A bucket is a stream with a name of that form.
void NatsBucket::Compare(const std::string& name, milliseconds time_to_live) {
  const std::string stream = "KV_" + name;
  jsStreamInfo* raw = nullptr;
  const natsStatus status = library_.stream_info(&raw, context_.get(), stream.c_str(), nullptr, nullptr);
  const std::unique_ptr<jsStreamInfo, decltype(&::jsStreamInfo_Destroy)> info(raw, library_.stream_info_destroy);
  if (status != NATS_OK || info->Config == nullptr) return;
  const auto found = std::chrono::duration_cast<milliseconds>(nanoseconds(info->Config->MaxAge));
  if (found != time_to_live) {
    difference_ = fmt::format("its time to live is {} ms instead of {} ms", found.count(), time_to_live.count());
  }
}

Result<> NatsBucket::Put(const std::string& key, const std::string& value) {
  const natsStatus status =
      library_.bucket_put(nullptr, store_.get(), key.c_str(), value.data(), static_cast<int>(value.size()));
  if (status != NATS_OK) return std::unexpected(library_.ErrorOf("write a record", status));
  return {};
}

Result<> NatsBucket::Remove(const std::string& key) {
  const natsStatus status = library_.bucket_delete(store_.get(), key.c_str());
  if (status != NATS_OK) return std::unexpected(library_.ErrorOf("remove a record", status));
  return {};
}

Result<NatsBucket::Entry> NatsBucket::Get(const std::string& key) {
  kvEntry* raw = nullptr;
  const natsStatus status = library_.bucket_get(&raw, store_.get(), key.c_str());
  Entry entry(raw, library_.entry_destroy);
  if (status != NATS_OK) return std::unexpected(library_.ErrorOf("read " + key, status));
  return entry;
}

std::string_view NatsBucket::ValueOf(const Entry& entry) const {
  const int size = library_.entry_value_length(entry.get());
  return {static_cast<const char*>(library_.entry_value(entry.get())), static_cast<size_t>(std::max(size, 0))};
}

// The key is written with its revision, or only if there is none. That fails when another node was faster, and the key
// of that node is read in the next attempt.
Result<std::string> NatsBucket::SettleTicketKey(const std::string& ours) {
  natsStatus status = NATS_OK;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const auto entry = Get(kTicketKey);
    if (!entry && entry.error().kind != ErrorKind::kNotFound) return std::unexpected(entry.error());
    const bool is_settled = entry && IsTicketKey(ValueOf(*entry));
    std::string key(is_settled ? ValueOf(*entry) : ours);
    const int size = static_cast<int>(key.size());
    status = entry ? library_.bucket_update(nullptr, store_.get(), kTicketKey, key.data(), size,
                                            library_.entry_revision(entry->get()))
                   : library_.bucket_create(nullptr, store_.get(), kTicketKey, key.data(), size);
    if (status == NATS_OK || is_settled) return key;
  }
  return std::unexpected(library_.ErrorOf("write the ticket key", status));
}

Result<std::vector<ExecutorElsewhere>> NatsBucket::RecordsOfOthers(std::string_view node) {
  return Read(kAllKeys, node);
}

Result<std::vector<ExecutorElsewhere>> NatsBucket::RecordsOfOthers(std::string_view node,
                                                                   std::string_view executor_id) {
  return Read(EntryKey("*", executor_id), node);
}

// When an entry is written at the wrong moment, the library waits for the earlier one, which is gone, and never says
// that it has seen all. The next attempt succeeds.
Result<std::vector<ExecutorElsewhere>> NatsBucket::Read(const std::string& keys, std::string_view node) {
  Result<std::vector<ExecutorElsewhere>> records = List(keys, node);
  for (int i = 1; i < kAttempts && !records && records.error().kind == ErrorKind::kTimeout; ++i) {
    records = List(keys, node);
  }
  return records;
}

// An entry that is written during the listing comes twice; the later one counts.
Result<std::vector<ExecutorElsewhere>> NatsBucket::List(const std::string& keys, std::string_view node) {
  kvWatchOptions options;
  library_.watch_options_init(&options);
  options.IgnoreDeletes = true;
  kvWatcher* raw_watcher = nullptr;
  natsStatus status = library_.bucket_watch(&raw_watcher, store_.get(), keys.c_str(), &options);
  const std::unique_ptr<kvWatcher, decltype(&::kvWatcher_Destroy)> watcher(raw_watcher, library_.watcher_destroy);
  RecordsByKey records;
  for (size_t seen = 0; status == NATS_OK && seen < kMaxEntries; ++seen) {
    kvEntry* raw = nullptr;
    status = library_.watcher_next(&raw, watcher.get(), kEntryMs);
    const Entry entry(raw, library_.entry_destroy);
    if (status == NATS_OK && entry == nullptr) return Values(std::move(records));
    if (status != NATS_OK) break;
    const std::string_view key = library_.entry_key(entry.get());
    if (key.starts_with(node) || key == kTicketKey) continue;
    if (auto record = DecodeEntry(key, ValueOf(entry))) records.insert_or_assign(std::string(key), *std::move(record));
  }
  if (status != NATS_OK) return std::unexpected(library_.ErrorOf("list the records", status));
  return Fail(ErrorKind::kLimit, "list the records: the bucket has too many entries");
}

}  // namespace holdfast::rendezvous
