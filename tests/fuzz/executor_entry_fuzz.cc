// Any entry that a participant of NATS writes into the bucket of the nodes is refused with a reason, or is a record
// that survives the way out and back. The key ends where the value begins, with a brace.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "rendezvous/nats/executor_entry.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace holdfast::rendezvous;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const size_t key_size = std::min(text.find('{'), text.size());
  const auto entry = DecodeEntry(text.substr(0, key_size), text.substr(key_size));
  if (!entry) {
    CHECK(!entry.error().message.empty());
    return 0;
  }
  const auto again =
      DecodeEntry(EntryKey(entry->node.name, entry->record.id), EncodeEntry(entry->record, entry->node.url));
  CHECK(again && again->record == entry->record && again->node == entry->node);
  return 0;
}
