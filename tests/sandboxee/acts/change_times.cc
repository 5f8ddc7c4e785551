#include <fcntl.h>
#include <sys/stat.h>

#include "sandboxee.h"

int main(int, char** argv) { return Judge(::utimensat(AT_FDCWD, Word(argv, 1), nullptr, 0)); }
