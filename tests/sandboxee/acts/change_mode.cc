#include <sys/stat.h>

#include "sandboxee.h"

int main(int, char** argv) { return Judge(::chmod(Word(argv, 1), 0777)); }
