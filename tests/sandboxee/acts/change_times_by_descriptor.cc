#include <sys/stat.h>

#include "sandboxee.h"

int main(int, char** argv) { return Judge(::futimens(static_cast<int>(Number(argv, 1)), nullptr)); }
