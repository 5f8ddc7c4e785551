#include "transport/outbound_queue.h"

#include <utility>

#include "base/check.h"

namespace holdfast::transport {
namespace {

constexpr size_t kCopyBelow = 2u << 10;  // copying fewer bytes than this costs less than a chunk of its own
constexpr size_t kSharedChunkBytes = 16u << 10;

}  // namespace

void OutboundQueue::Append(std::string bytes) {
  if (bytes.size() < kCopyBelow) return AppendCopy(bytes);
  size_ += bytes.size();
  chunks_.emplace_back().own = std::move(bytes);
  back_is_shared_ = false;
}

void OutboundQueue::AppendPart(std::shared_ptr<const std::string> whole, std::string_view part) {
  if (part.empty()) return;
  size_ += part.size();
  Chunk& chunk = chunks_.emplace_back();
  chunk.whole = std::move(whole);
  chunk.part = part;
  back_is_shared_ = false;
}

void OutboundQueue::AppendCopy(std::string_view bytes) {
  if (bytes.empty()) return;
  size_ += bytes.size();
  if (back_is_shared_ && chunks_.back().own.size() + bytes.size() <= kSharedChunkBytes) {
    chunks_.back().own.append(bytes);
    return;
  }
  chunks_.emplace_back().own = bytes;
  back_is_shared_ = true;
}

std::span<iovec> OutboundQueue::Gather(std::span<iovec> vectors) const {
  size_t used = 0;
  size_t offset = front_offset_;
  for (auto chunk = chunks_.begin(); chunk != chunks_.end() && used < vectors.size(); ++chunk) {
    const std::string_view bytes = chunk->bytes().substr(offset);
    // iovec has no const variant, but a write only reads from it.
    vectors[used++] = {const_cast<char*>(bytes.data()), bytes.size()};
    offset = 0;
  }
  return vectors.first(used);
}

void OutboundQueue::Consume(size_t count) {
  CHECK(count <= size_);
  size_ -= count;
  while (count > 0) {
    const size_t left = chunks_.front().bytes().size() - front_offset_;
    if (count < left) {
      front_offset_ += count;
      return;
    }
    count -= left;
    front_offset_ = 0;
    chunks_.pop_front();
  }
  if (chunks_.empty()) back_is_shared_ = false;
}

void OutboundQueue::Clear() { *this = OutboundQueue(); }

}  // namespace holdfast::transport
