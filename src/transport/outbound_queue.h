// An OutboundQueue holds the bytes that wait to be sent, as a list of chunks; one gathering write takes many of them
// from the front. Long pieces are moved in or shared. Short pieces are copied into a common chunk, so that each message
// of a burst does not cost a chunk of its own.
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

  // Points `vectors` at the front of the queue and returns those that were set.
  std::span<iovec> Gather(std::span<iovec> vectors) const;

  // Removes the first `count` bytes, which the kernel has accepted.
  void Consume(size_t count);

  void Clear();

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  struct Chunk {
    std::string own;
    std::shared_ptr<const std::string> whole;  // used instead of `own`: the string that `part` is a part of
    std::string_view part;

    std::string_view bytes() const { return whole ? part : own; }
  };

  std::deque<Chunk> chunks_;
  size_t front_offset_ = 0;  // bytes of the front chunk that were sent already
  size_t size_ = 0;
  bool back_is_shared_ = false;  // the last chunk collects short pieces
};

}  // namespace holdfast::transport
