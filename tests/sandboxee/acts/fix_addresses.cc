#include <sys/personality.h>

#include "sandboxee.h"

int main() { return Judge(::personality(ADDR_NO_RANDOMIZE)); }
