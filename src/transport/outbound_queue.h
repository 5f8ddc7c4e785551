// Bytes waiting to leave, as a list of chunks that one gathering write takes from the front. Long pieces are moved in,
// short ones are copied together, so that a burst of small messages does not cost one chunk each.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::transport {

class OutboundQueue {
 public:
  void Append(std::string bytes);
  void AppendCopy(std::string_view bytes);

  // Points `vectors` at the front of the queue; returns those that are set.
  std::span<iovec> Gather(std::span<iovec> vectors) const;

  // Forgets the first `count` bytes: they are with the kernel.
  void Consume(size_t count);

  void Clear();

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  std::deque<std::string> chunks_;
  size_t front_offset_ = 0;  // bytes of the front chunk that are gone already
  size_t size_ = 0;
  bool back_is_shared_ = false;  // the last chunk collects short pieces
};

}  // namespace holdfast::transport
