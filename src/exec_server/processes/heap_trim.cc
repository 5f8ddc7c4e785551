#include "exec_server/processes/heap_trim.h"

#include <malloc.h>

namespace holdfast::exec_server {
namespace {

using namespace std::chrono_literals;

constexpr size_t kWorthTrimming = 1 << 20;  // for less, the walk through the heap costs more than it gains
constexpr auto kRest = 2s;

}  // namespace

HeapTrim::HeapTrim(loop::EventLoop& loop)
    : timer_(loop, [this] {
        noted_ = 0;
        ::malloc_trim(0);
      }) {}

// A running timer is not restarted: under lasting traffic malloc releases the pages once every two seconds and gets
// them again, which costs little.
void HeapTrim::Note(size_t bytes) {
  noted_ += bytes;
  if (noted_ >= kWorthTrimming && !timer_.running()) timer_.Start(kRest);
}

}  // namespace holdfast::exec_server
