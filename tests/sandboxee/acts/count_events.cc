#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandboxee.h"

int main() {
  perf_event_attr attributes = {};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.size = sizeof attributes;
  attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  attributes.exclude_kernel = attributes.exclude_hv = 1;
  return Judge(::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
}
