#include "loop/sleep.h"

#include "loop/event.h"

namespace holdfast::loop {

Task<> Sleep(EventLoop& loop, std::chrono::nanoseconds time) {
  Event never;
  Deadline end(loop, std::chrono::ceil<std::chrono::milliseconds>(time));
  co_await never.NextBefore(end);
}

}  // namespace holdfast::loop
