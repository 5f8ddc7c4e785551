// Short time slices on the processor for the calling thread. The thread gets no more of the processor than others, but
// gets it sooner when it wakes up. Otherwise, beside hundreds of runnable processes, a thread that only answers would
// wait each time until all of them have had a slice. Children and threads that the thread starts do not inherit the
// setting. Kernels before 6.12 ignore it. The header is usable without libc.
#pragma once

#include <asm/unistd.h>

#include "sys/raw.h"

namespace holdfast::sys::raw {

struct SchedulingAttributes {
  unsigned size, policy;
  unsigned long flags;
  int nice;
  unsigned priority;
  unsigned long runtime_ns, deadline_ns, period_ns;
};

// Asks the kernel for the shortest time slices. A thread with a raised priority is left as it is, because its children
// would lose that priority.
HOLDFAST_RAW void AskForShortSlices() {
  constexpr unsigned long reset_on_fork = 1, shortest_ns = 100'000;
  const long nice = 20 - Syscall(__NR_getpriority, 0, 0);  // PRIO_PROCESS
  if (nice < 0) return;
  SchedulingAttributes attributes;
  attributes.size = sizeof attributes;
  attributes.policy = 0;  // SCHED_OTHER
  attributes.flags = reset_on_fork;
  attributes.nice = static_cast<int>(nice);
  attributes.priority = 0;
  attributes.runtime_ns = shortest_ns;
  attributes.deadline_ns = attributes.period_ns = 0;
  Syscall(__NR_sched_setattr, 0, Address(&attributes), 0);
}

}  // namespace holdfast::sys::raw
