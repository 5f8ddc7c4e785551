#include <fcntl.h>

#include "sandboxee.h"

int main(int, char** argv) { return Judge(::open(Word(argv, 1), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644)); }
