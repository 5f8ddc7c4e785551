#include <unistd.h>

#include "sandboxee.h"

int main(int, char** argv) { return Judge(::setuid(static_cast<uid_t>(Number(argv, 1)))); }
