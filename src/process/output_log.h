// An OutputLog keeps a bounded part of what a process wrote: the latest chunks by number, and the beginning and the end
// of each stream. Chunks are never split or renumbered. When a bound is exceeded, the oldest chunks are removed first,
// and a reader sees the gap in their numbers. Nothing is copied as long as the latest chunks contain the end of a
// stream.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "process/head_tail_buffer.h"

namespace holdfast::process {

enum class Stream { kStdout, kStderr, kTerminal };
inline constexpr size_t kStreams = 3;

struct Chunk {
  uint64_t seq;
  Stream stream;
  std::string bytes;
};

struct OutputLimits {
  size_t retained_bytes = 1u << 20;
  size_t retained_chunks = 50'000;
  size_t snapshot_bytes_per_stream = 256u << 10;
};

// The output that was removed from the front of a log.
struct DroppedOutput {
  uint64_t last_seq = 0;  // 0: nothing was removed
  uint64_t bytes = 0;
};

struct Snapshot {
  std::string out, err, terminal;
  uint64_t omitted_bytes = 0;
};

class OutputLog {
 public:
  explicit OutputLog(const OutputLimits& limits);

  // Adds a chunk, which is kept whatever its size. The reference is valid until the next Append.
  const Chunk& Append(uint64_t seq, Stream stream, std::string_view bytes);

  // Returns the retained chunks after `after_seq`, oldest first: at least one if there is any, and further ones as long
  // as their total stays within `max_bytes`.
  std::vector<const Chunk*> ReadAfter(uint64_t after_seq, size_t max_bytes) const;

  // Returns the first retained chunk after `after_seq`; null if there is none. It is valid until the next Append.
  const Chunk* FirstAfter(uint64_t after_seq) const;

  const DroppedOutput& dropped() const { return dropped_; }

  Snapshot TakeSnapshot() const;

  size_t bytes() const;  // the number of bytes held in all

 private:
  // The part of one stream that is held.
  struct Held {
    explicit Held(size_t snapshot_bytes) : evicted(snapshot_bytes) {}

    size_t retained_bytes = 0;  // bytes of this stream in chunks_
    HeadTailBuffer evicted;     // the head and tail of the chunks that were removed
  };

  void Evict();
  HeadTailBuffer HeadAndTail(Stream stream) const;

  OutputLimits limits_;
  size_t retained_bytes_ = 0;
  DroppedOutput dropped_;
  std::deque<Chunk> chunks_;
  std::array<Held, kStreams> streams_;
};

}  // namespace holdfast::process
