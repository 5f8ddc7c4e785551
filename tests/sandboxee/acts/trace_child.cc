#include <sys/ptrace.h>

#include "child.h"
#include "sandboxee.h"

int main() {
  const Child child;
  return Judge(::ptrace(PTRACE_ATTACH, child.pid(), nullptr, nullptr));
}
