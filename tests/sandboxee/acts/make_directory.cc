#include <sys/stat.h>

#include "sandboxee.h"

int main(int, char** argv) { return Judge(::mkdir(Word(argv, 1), 0755)); }
