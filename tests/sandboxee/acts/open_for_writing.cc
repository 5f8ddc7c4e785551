// The act only opens the file, because writing to it would do harm.
#include <fcntl.h>

#include "sandboxee.h"

int main(int, char** argv) { return Judge(::open(Word(argv, 1), O_WRONLY | O_NONBLOCK | O_CLOEXEC)); }
