#include <sys/io.h>

#include "sandboxee.h"

int main() { return Judge(::ioperm(0x80, 1, 1)); }
