// The record of an executor as it stands in the bucket that the nodes share: its key, and its value in JSON. Another
// participant of NATS may write anything there, so that only exactly such an entry is accepted.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "rendezvous/bus/bus.h"

namespace holdfast::rendezvous {

// Returns the key of the record that the node of this name has of an executor. It has the SHA-256 of the id, because
// keys of NATS may not contain every character.
std::string EntryKey(std::string_view node, std::string_view id);

// Returns the value of a record, with the URL of the node.
std::string EncodeEntry(const ExecutorRecord& record, const std::string& node_url);

// Fails if the value is not a record, or not that of the executor which the key names.
Result<ExecutorElsewhere> DecodeEntry(std::string_view key, std::string_view value);

}  // namespace holdfast::rendezvous
