// Its size: the least that can be asked.
#include <sys/klog.h>

#include "sandboxee.h"

int main() { return Judge(::klogctl(10, nullptr, 0)); }
