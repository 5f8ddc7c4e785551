// A MessageBuffer holds a message while its parts arrive. It grows by realloc, which moves the pages of a long message
// instead of copying them, and leaves the added bytes uninitialised.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "base/check.h"

namespace holdfast::transport {

class MessageBuffer {
 public:
  char* data() { return bytes_.get(); }
  size_t size() const { return size_; }
  std::string_view first(size_t count) const { return {bytes_.get(), count}; }

  // The size that the buffer will have after Grow(size).
  size_t GrownSize(size_t size) const {
    if (size <= size_) return size_;
    return size < 2 * size_ && size_ < kLongBytes ? 2 * size_ : size;
  }

  // Makes the buffer at least `size` bytes long and keeps its content.
  void Grow(size_t size) {
    if (size <= size_) return;
    size = GrownSize(size);
    auto* grown = static_cast<char*>(std::realloc(bytes_.get(), size));
    CHECK(grown != nullptr);
    (void)bytes_.release();  // realloc has freed or reused it
    bytes_.reset(grown);
    size_ = size;
  }

  void Release() {
    bytes_.reset();
    size_ = 0;
  }

 private:
  // Beyond this size realloc costs next to nothing, so the buffer grows only as needed.
  static constexpr size_t kLongBytes = 1 << 20;

  struct Free {
    void operator()(char* bytes) const { std::free(bytes); }
  };

  std::unique_ptr<char, Free> bytes_;
  size_t size_ = 0;
};

}  // namespace holdfast::transport
