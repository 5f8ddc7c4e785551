#include "process/output_log.h"

#include <algorithm>

namespace holdfast::process {

OutputLog::OutputLog(const OutputLimits& limits)
    : limits_(limits),
      streams_{Held(limits.snapshot_bytes_per_stream), Held(limits.snapshot_bytes_per_stream),
               Held(limits.snapshot_bytes_per_stream)} {}

const Chunk& OutputLog::Append(uint64_t seq, Stream stream, std::string_view bytes) {
  retained_bytes_ += bytes.size();
  streams_[static_cast<size_t>(stream)].retained_bytes += bytes.size();
  chunks_.push_back({seq, stream, std::string(bytes)});
  Evict();
  return chunks_.back();
}

// As long as the remaining chunks contain the whole tail of a stream, a removed chunk can belong only to the head and
// is otherwise not copied.
void OutputLog::Evict() {
  while (chunks_.size() > 1 && (retained_bytes_ > limits_.retained_bytes || chunks_.size() > limits_.retained_chunks)) {
    const Chunk& oldest = chunks_.front();
    Held& held = streams_[static_cast<size_t>(oldest.stream)];
    retained_bytes_ -= oldest.bytes.size();
    held.retained_bytes -= oldest.bytes.size();
    dropped_ = {.last_seq = oldest.seq, .bytes = dropped_.bytes + oldest.bytes.size()};
    if (held.retained_bytes >= limits_.snapshot_bytes_per_stream) {
      held.evicted.AppendOmitted(oldest.bytes);
    } else {
      held.evicted.Append(oldest.bytes);
    }
    chunks_.pop_front();
  }
}

std::vector<const Chunk*> OutputLog::ReadAfter(uint64_t after_seq, size_t max_bytes) const {
  std::vector<const Chunk*> found;
  size_t total = 0;
  auto first = std::ranges::upper_bound(chunks_, after_seq, {}, &Chunk::seq);
  for (auto it = first; it != chunks_.end(); ++it) {
    if (!found.empty() && (total >= max_bytes || it->bytes.size() > max_bytes - total)) break;
    found.push_back(&*it);
    total += it->bytes.size();
  }
  return found;
}

const Chunk* OutputLog::FirstAfter(uint64_t after_seq) const {
  const auto first = std::ranges::upper_bound(chunks_, after_seq, {}, &Chunk::seq);
  return first != chunks_.end() ? &*first : nullptr;
}

HeadTailBuffer OutputLog::HeadAndTail(Stream stream) const {
  HeadTailBuffer buffer = streams_[static_cast<size_t>(stream)].evicted;
  for (const Chunk& chunk : chunks_) {
    if (chunk.stream == stream) buffer.Append(chunk.bytes);
  }
  return buffer;
}

Snapshot OutputLog::TakeSnapshot() const {
  const HeadTailBuffer out = HeadAndTail(Stream::kStdout);
  const HeadTailBuffer err = HeadAndTail(Stream::kStderr);
  const HeadTailBuffer terminal = HeadAndTail(Stream::kTerminal);
  return {out.Text(), err.Text(), terminal.Text(),
          out.omitted_bytes() + err.omitted_bytes() + terminal.omitted_bytes()};
}

size_t OutputLog::bytes() const {
  size_t bytes = retained_bytes_;
  for (const Held& held : streams_) bytes += held.evicted.size();
  return bytes;
}

}  // namespace holdfast::process
