#include "process/output_log.h"

#include <algorithm>

namespace holdfast::process {

const Chunk& OutputLog::Append(uint64_t seq, Stream stream, std::string_view bytes) {
  chunks_.push_back({seq, stream, std::string(bytes)});
  bytes_ += bytes.size();
  Evict();
  return chunks_.back();
}

void OutputLog::Evict() {
  while (chunks_.size() > 1 && (bytes_ > max_bytes_ || chunks_.size() > max_chunks_)) {
    bytes_ -= chunks_.front().bytes.size();
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

}  // namespace holdfast::process
