#include <sys/uio.h>

#include "child.h"
#include "sandboxee.h"

int main() {
  static int target = 42;
  const Child child;
  int value = 0;
  const iovec here = {&value, sizeof value}, there = {&target, sizeof target};
  return Judge(::process_vm_writev(child.pid(), &here, 1, &there, 1, 0));
}
