#include "starlark/value.h"

namespace holdfast::starlark {

bool Range::Contains(int64_t number) const {
  if (size == 0 || number < (step > 0 ? start : at(size - 1)) || number > (step > 0 ? at(size - 1) : start)) {
    return false;
  }
  // The distances are computed without a sign, because they may need all 64 bits.
  const uint64_t distance = step > 0 ? static_cast<uint64_t>(number) - static_cast<uint64_t>(start)
                                     : static_cast<uint64_t>(start) - static_cast<uint64_t>(number);
  const uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
  return distance % stride == 0;
}

Range MakeRange(int64_t start, int64_t stop, int64_t step) {
  const bool is_empty = step > 0 ? start >= stop : start <= stop;
  const uint64_t distance = step > 0 ? static_cast<uint64_t>(stop) - static_cast<uint64_t>(start)
                                     : static_cast<uint64_t>(start) - static_cast<uint64_t>(stop);
  const uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
  const uint64_t size = is_empty ? 0 : (distance - 1) / stride + 1;
  return {.start = start, .stop = stop, .step = step, .size = static_cast<int64_t>(size)};
}

}  // namespace holdfast::starlark
