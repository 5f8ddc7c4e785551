// The numbered, bounded memory of what a process wrote. Chunks are never split or renumbered; when a bound is passed
// the oldest go first, and a reader sees the gap in their numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::process {

enum class Stream { kStdout, kStderr, kTerminal };

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

class OutputLog {
 public:
  OutputLog(size_t max_bytes, size_t max_chunks) : max_bytes_(max_bytes), max_chunks_(max_chunks) {}

  // The chunk just added is kept whatever its size; the reference is valid until the next Append.
  const Chunk& Append(uint64_t seq, Stream stream, std::string_view bytes);

  // Retained chunks after `after_seq`, oldest first: at least one if there is any, then as long as the total stays
  // within `max_bytes`.
  std::vector<const Chunk*> ReadAfter(uint64_t after_seq, size_t max_bytes) const;

  size_t bytes() const { return bytes_; }

 private:
  void Evict();

  size_t max_bytes_, max_chunks_;
  size_t bytes_ = 0;
  std::deque<Chunk> chunks_;
};

}  // namespace holdfast::process
