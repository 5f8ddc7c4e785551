#include <sys/timex.h>

#include <ctime>

#include "sandboxee.h"

int main() {
  timex nothing = {};
  return Judge(::clock_adjtime(CLOCK_REALTIME, &nothing));
}
