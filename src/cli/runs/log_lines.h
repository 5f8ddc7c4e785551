// The lines of JSON that `holdfast logs --json` prints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "wire/process_messages.h"

namespace holdfast::cli {

// Output that the server had dropped before it could be read.
struct LostOutput {
  uint64_t to_seq = 0;            // the number of the last chunk of it
  std::optional<uint64_t> bytes;  // absent if it is not known how much of what was dropped comes before it
};

// Returns a chunk with its output as `text` if it is UTF-8, else as `base64`.
std::string ChunkLine(const wire::OutputChunk& chunk);

std::string LostLine(const LostOutput& lost);

}  // namespace holdfast::cli
