// ConnectionSlots counts live connections against a limit. A slot is a copy of one shared token, so the token's use
// count is the number of connections, and a connection gives its slot back by being destroyed.
#pragma once

#include <cstddef>
#include <memory>

namespace holdfast::transport {

using Slot = std::shared_ptr<const void>;

class ConnectionSlots {
 public:
  explicit ConnectionSlots(size_t limit) : limit_(limit) {}

  // Returns null if all slots are in use.
  Slot Take() const { return used() < limit_ ? token_ : nullptr; }

 private:
  size_t used() const { return static_cast<size_t>(token_.use_count()) - 1; }

  size_t limit_;
  Slot token_ = std::make_shared<char>();
};

}  // namespace holdfast::transport
