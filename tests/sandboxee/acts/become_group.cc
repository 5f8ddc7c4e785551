#include <unistd.h>

#include "sandboxee.h"

int main(int, char** argv) { return Judge(::setgid(static_cast<gid_t>(Number(argv, 1)))); }
