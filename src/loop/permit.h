// A permit is a right that returns to its source when it is destroyed: a turn, a leased file helper, a watch, a
// connection slot. It can be moved but not copied, and may outlive its source. ByteBudget has permits of the same kind
// that can be resized as well.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "loop/event_loop.h"

namespace holdfast::loop {

class Permit {
 public:
  Permit() = default;  // an empty permit, which gives no right
  Permit(Permit&&) noexcept = default;
  Permit& operator=(Permit&& other) noexcept;
  ~Permit() { Return(); }

  explicit operator bool() const { return source_ != nullptr; }

 private:
  friend class Permits;
  struct Source;

  Permit(std::shared_ptr<Source> source, uint64_t id) : source_(std::move(source)), id_(id) {}
  void Return();

  std::shared_ptr<Source> source_;
  uint64_t id_ = 0;
};

// A source of permits. Until it is destroyed, it calls `on_return` for each permit that returns, with the id under
// which it issued the permit.
class Permits {
 public:
  using OnReturn = std::move_only_function<void(uint64_t id)>;

  // This source is for permits that only the loop's thread destroys. `on_return` runs inside their destructor, and may
  // destroy the source.
  explicit Permits(OnReturn on_return);
  // This source is for permits that any thread may destroy, even after the loop has been destroyed. `on_return` runs
  // later, on the loop.
  Permits(EventLoop& loop, OnReturn on_return);
  ~Permits();
  Permits(const Permits&) = delete;
  Permits& operator=(const Permits&) = delete;

  Permit Issue(uint64_t id);

 private:
  std::shared_ptr<Permit::Source> source_;
};

}  // namespace holdfast::loop
