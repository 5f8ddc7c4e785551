// malloc keeps what was freed, so that the next large message finds its pages in place; this gives them back to the
// kernel two seconds after a megabyte has passed.
#pragma once

#include <cstddef>

#include "loop/event_loop.h"

namespace holdfast::exec_server {

class HeapTrim {
 public:
  explicit HeapTrim(loop::EventLoop& loop);

  // So many bytes were used and will be free, or are.
  void Note(size_t bytes);

 private:
  size_t noted_ = 0;
  loop::Timer timer_;
};

}  // namespace holdfast::exec_server
