#include "exec_server/processes/heap_trim.h"

#include <malloc.h>

namespace holdfast::exec_server {
namespace {

using namespace std::chrono_literals;

constexpr size_t kWorthTrimming = 1 << 20;  // less does not pay for the walk through the heap
constexpr auto kRest = 2s;

}  // namespace

HeapTrim::HeapTrim(loop::EventLoop& loop)
    : timer_(loop, [this] {
        noted_ = 0;
        ::malloc_trim(0);
      }) {}

// The timer is not moved while it runs: under lasting traffic the pages go and come once per rest, which costs little.
void HeapTrim::Note(size_t bytes) {
  noted_ += bytes;
  if (noted_ >= kWorthTrimming && !timer_.running()) timer_.Start(kRest);
}

}  // namespace holdfast::exec_server
