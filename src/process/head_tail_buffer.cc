#include "process/head_tail_buffer.h"

#include <algorithm>
#include <cstring>

namespace holdfast::process {

// Returns the bytes that did not fit.
std::string_view HeadTailBuffer::AppendHead(std::string_view bytes) {
  size_t to_head = std::min(bytes.size(), head_capacity_ - head_.size());
  head_.append(bytes.substr(0, to_head));
  return bytes.substr(to_head);
}

void HeadTailBuffer::Append(std::string_view bytes) { AppendTail(AppendHead(bytes)); }

void HeadTailBuffer::AppendOmitted(std::string_view bytes) {
  omitted_ += AppendHead(bytes).size() + tail_.size();
  tail_.clear();
  tail_start_ = 0;
}

void HeadTailBuffer::AppendTail(std::string_view bytes) {
  if (bytes.size() > tail_capacity_) {
    size_t skipped = bytes.size() - tail_capacity_;
    omitted_ += skipped;
    bytes.remove_prefix(skipped);
  }
  size_t grow = std::min(bytes.size(), tail_capacity_ - tail_.size());
  tail_.append(bytes.substr(0, grow));
  bytes.remove_prefix(grow);
  omitted_ += bytes.size();
  while (!bytes.empty()) {
    size_t n = std::min(bytes.size(), tail_.size() - tail_start_);
    std::memcpy(tail_.data() + tail_start_, bytes.data(), n);
    tail_start_ = (tail_start_ + n) % tail_.size();
    bytes.remove_prefix(n);
  }
}

std::string HeadTailBuffer::Text() const {
  std::string text;
  text.reserve(head_.size() + tail_.size());
  text += head_;
  text.append(tail_, tail_start_);
  text.append(tail_, 0, tail_start_);
  return text;
}

}  // namespace holdfast::process
