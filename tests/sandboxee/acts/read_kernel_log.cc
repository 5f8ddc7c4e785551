// The act reads only the size of the log.
#include <sys/klog.h>

#include "sandboxee.h"

int main() { return Judge(::klogctl(10, nullptr, 0)); }
