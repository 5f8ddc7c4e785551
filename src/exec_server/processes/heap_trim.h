// HeapTrim gives freed memory back to the kernel. malloc keeps freed pages, so that the next large message finds them
// in place; two seconds after a megabyte has passed through the server, HeapTrim makes malloc release them.
#pragma once

#include <cstddef>

#include "loop/event_loop.h"

namespace holdfast::exec_server {

class HeapTrim {
 public:
  explicit HeapTrim(loop::EventLoop& loop);

  // Tells that `bytes` of memory were used, and are free or soon will be.
  void Note(size_t bytes);

 private:
  size_t noted_ = 0;
  loop::Timer timer_;
};

}  // namespace holdfast::exec_server
