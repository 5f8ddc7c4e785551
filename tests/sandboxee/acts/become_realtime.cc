#include <sched.h>

#include "sandboxee.h"

int main() {
  const sched_param parameters = {.sched_priority = 1};
  return Judge(::sched_setscheduler(0, SCHED_FIFO, &parameters));
}
