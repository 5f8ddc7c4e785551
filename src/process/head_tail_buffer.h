// A HeadTailBuffer keeps the beginning and the end of a stream, at most `capacity` bytes in all. The bytes between them
// are counted and not kept. Memory grows with what is appended, up to the capacity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::process {

class HeadTailBuffer {
 public:
  explicit HeadTailBuffer(size_t capacity) : head_capacity_(capacity / 2), tail_capacity_(capacity - capacity / 2) {}

  void Append(std::string_view bytes);

  // Like Append, for a caller that knows that more bytes than the capacity will follow: bytes beyond the head are
  // counted and not kept.
  void AppendOmitted(std::string_view bytes);

  // Returns the kept bytes in their order.
  std::string Text() const;
  size_t size() const { return head_.size() + tail_.size(); }
  uint64_t omitted_bytes() const { return omitted_; }

 private:
  std::string_view AppendHead(std::string_view bytes);
  void AppendTail(std::string_view bytes);

  size_t head_capacity_, tail_capacity_;
  std::string head_;
  std::string tail_;       // a ring buffer once it is full
  size_t tail_start_ = 0;  // the position of the oldest byte in tail_
  uint64_t omitted_ = 0;
};

}  // namespace holdfast::process
