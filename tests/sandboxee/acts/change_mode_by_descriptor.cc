// A descriptor that is open for reading is enough to change the mode, and also the times and attributes.
#include <sys/stat.h>

#include "sandboxee.h"

int main(int, char** argv) { return Judge(::fchmod(static_cast<int>(Number(argv, 1)), 0777)); }
