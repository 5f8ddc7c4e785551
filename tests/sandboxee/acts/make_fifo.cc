#include <sys/stat.h>

#include "sandboxee.h"

int main(int, char** argv) { return Judge(::mkfifo(Word(argv, 1), 0644)); }
