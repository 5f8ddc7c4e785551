// A right that comes back when it is destroyed: a turn, a leased helper, a watch, a connection slot. It is move-only
// and may outlive what issued it. ByteBudget has permits of the same shape that can be resized as well.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "loop/event_loop.h"

namespace holdfast::loop {

class Permit {
 public:
  Permit() = default;  // of nothing
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

// The source of permits learns of each one's return by the id that it was issued under, until it is destroyed.
class Permits {
 public:
  using OnReturn = std::move_only_function<void(uint64_t id)>;

  // Only the loop's thread destroys these permits: `on_return` runs inside their destructor, and may destroy this.
  explicit Permits(OnReturn on_return);
  // Any thread may destroy these permits, also when the loop is gone: `on_return` runs on the loop, later.
  Permits(EventLoop& loop, OnReturn on_return);
  ~Permits();
  Permits(const Permits&) = delete;
  Permits& operator=(const Permits&) = delete;

  Permit Issue(uint64_t id);

 private:
  std::shared_ptr<Permit::Source> source_;
};

}  // namespace holdfast::loop
