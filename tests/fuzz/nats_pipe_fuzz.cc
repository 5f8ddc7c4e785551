// Any messages that a participant of NATS sends to the end of a pipe, one after the other, are refused with a reason or
// accepted within the windows. The first two bytes of each piece are its size. Each piece is tried as a message of the
// pipe that is numbered as it says, as one with the right number, and as a record of the bucket.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "rendezvous/nats/executor_entry.h"
#include "rendezvous/nats/pipe_flow.h"
#include "rendezvous/nats/pipe_message.h"

namespace {

using namespace holdfast::rendezvous;

constexpr size_t kWindow = 4096;

void TryRecord(std::string_view text) {
  const size_t key_size = std::min(text.find('{'), text.size());
  const auto record = DecodeEntry(text.substr(0, key_size), text.substr(key_size));
  if (!record) return CHECK(!record.error().message.empty());
  CHECK(DecodeEntry(EntryKey("node", record->id), EncodeEntry(*record)) == *record);
}

void TryMessage(std::string_view text) {
  const auto message = DecodePipeMessage(text);
  if (!message) return CHECK(!message.error().message.empty());
  CHECK(EncodePipeMessage(*message) == text);
}

// One end of a pipe, which sends and consumes what it may.
struct End {
  void Receive(std::string_view text) {
    const auto message = flow.Receive(text);
    if (!message) return CHECK(!message.error().message.empty());
    ++next;
    if (message->kind != PipeMessage::Kind::kData) return;
    held += message->bytes.size() + kMessageCost;
    CHECK(held <= kWindow);
    if (message->bytes.size() % 2 == 0) return;  // not consumed
    const auto credit = flow.Consume(message->bytes.size());
    if (!credit) return;
    const auto told = DecodePipeMessage(*credit);
    CHECK(told && told->consumed <= held);
    held -= told->consumed;
  }

  PipeFlow flow{kWindow};
  uint64_t next = 0;
  size_t held = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(bytes), size);
  End end;
  while (rest.size() >= 2) {
    const size_t wanted = static_cast<size_t>(static_cast<uint8_t>(rest[0])) << 8 | static_cast<uint8_t>(rest[1]);
    const std::string_view piece = rest.substr(2, wanted);
    rest.remove_prefix(2 + piece.size());
    TryMessage(piece);
    TryRecord(piece);
    end.Receive(piece);
    auto numbered = DecodePipeMessage(piece);
    if (!numbered) continue;
    if (end.flow.sendable() > 0) end.flow.Data("x");
    numbered->number = end.next;
    end.Receive(EncodePipeMessage(*numbered));
  }
  return 0;
}
