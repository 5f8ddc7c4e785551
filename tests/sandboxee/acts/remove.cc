#include <unistd.h>

#include "sandboxee.h"

int main(int, char** argv) { return Judge(::unlink(Word(argv, 1))); }
