// The act adjusts the time by nothing: it only reads.
#include <sys/timex.h>

#include "sandboxee.h"

int main() {
  timex nothing = {};
  const int result = ::adjtimex(&nothing);
  return Judge(result);
}
