// Bytes waiting to leave, as a list of chunks that one gathering write takes from the front. Long pieces are moved in
// or shared, short ones are copied together, so that a burst of small messages does not cost one chunk each.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::transport {

class OutboundQueue {
 public:
  void Append(std::string bytes);
  void AppendCopy(std::string_view bytes);
  void AppendPart(std::shared_ptr<const std::string> whole, std::string_view part);

  // Points `vectors` at the front of the queue; returns those that are set.
  std::span<iovec> Gather(std::span<iovec> vectors) const;

  // Forgets the first `count` bytes: they are with the kernel.
  void Consume(size_t count);

  void Clear();

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  struct Chunk {
    std::string own;
    std::shared_ptr<const std::string> whole;  // instead of `own`: what `part` is a part of
    std::string_view part;

    std::string_view bytes() const { return whole ? part : own; }
  };

  std::deque<Chunk> chunks_;
  size_t front_offset_ = 0;  // bytes of the front chunk that are gone already
  size_t size_ = 0;
  bool back_is_shared_ = false;  // the last chunk collects short pieces
};

}  // namespace holdfast::transport
