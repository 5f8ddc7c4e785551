#include "rendezvous/nats/executor_entry.h"

#include <cstdint>

#include "base/sha256.h"
#include "wire/decode.h"
#include "wire/encode.h"

namespace holdfast::rendezvous {
namespace {

constexpr size_t kMaxValueBytes = 8u << 10;
constexpr size_t kMaxNameBytes = 1u << 10;
constexpr size_t kMaxUrlBytes = 1u << 10;
constexpr int64_t kMaxTimeMs = int64_t{1} << 53;

struct EntryFields {
  std::string id, name, url;
  int64_t since_ms = 0;
  uint64_t waiting = 0, sessions = 0;

  void Fields(auto& f) {
    f.Required("id", id);
    f.Required("name", name);
    f.Required("url", url);
    f.Required("sinceMs", since_ms);
    f.Required("waiting", waiting);
    f.Required("sessions", sessions);
  }
};

std::unexpected<Error> NotAnEntry(std::string_view reason) {
  return Fail(ErrorKind::kInvalidParams, std::string("record of an executor: ").append(reason));
}

}  // namespace

std::string EntryKey(std::string_view node, std::string_view id) {
  return std::string(node).append(".").append(Sha256Hex(id));
}

std::string EncodeEntry(const ExecutorRecord& record, const std::string& node_url) {
  return wire::Encode(EntryFields{record.id, record.name, node_url, record.since_ms, record.waiting, record.sessions});
}

Result<ExecutorElsewhere> DecodeEntry(std::string_view key, std::string_view value) {
  if (value.size() > kMaxValueBytes) return NotAnEntry("it is too long");
  wire::Document document;
  TRY(const wire::Json json, document.Parse(value));
  TRY(EntryFields fields, wire::Decode<EntryFields>(json, "record of an executor"));
  if (fields.id.empty() || fields.id.size() > kMaxNameBytes) return NotAnEntry("the id is empty or too long");
  if (fields.name.size() > kMaxNameBytes) return NotAnEntry("the name is too long");
  if (fields.url.size() > kMaxUrlBytes) return NotAnEntry("the URL of the node is too long");
  if (fields.since_ms < 0 || fields.since_ms > kMaxTimeMs) return NotAnEntry("the time is out of range");
  const std::string_view node = key.substr(0, key.find('.'));
  if (key != EntryKey(node, fields.id)) return NotAnEntry("the key is that of another executor");
  return ExecutorElsewhere{
      .record = {std::move(fields.id), std::move(fields.name), fields.since_ms, fields.waiting, fields.sessions},
      .node = {.name = std::string(node), .url = std::move(fields.url)}};
}

}  // namespace holdfast::rendezvous
