// The beginning and the end of a stream, at most `capacity` bytes of it; the middle is counted and forgotten. Memory
// grows with what is written, up to the capacity.
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

  // As Append, for who knows that more than the capacity follows: what is not of the head is counted and not kept.
  void AppendOmitted(std::string_view bytes);

  // What is kept, in order.
  std::string Text() const;
  size_t size() const { return head_.size() + tail_.size(); }
  uint64_t omitted_bytes() const { return omitted_; }

 private:
  std::string_view AppendHead(std::string_view bytes);
  void AppendTail(std::string_view bytes);

  size_t head_capacity_, tail_capacity_;
  std::string head_;
  std::string tail_;       // a ring once it is full
  size_t tail_start_ = 0;  // where its oldest byte is
  uint64_t omitted_ = 0;
};

}  // namespace holdfast::process
