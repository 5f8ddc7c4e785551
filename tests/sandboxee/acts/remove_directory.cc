#include <unistd.h>

#include "sandboxee.h"

int main(int, char** argv) { return Judge(::rmdir(Word(argv, 1))); }
