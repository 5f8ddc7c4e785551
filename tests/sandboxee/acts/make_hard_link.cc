#include <unistd.h>

#include "sandboxee.h"

int main(int, char** argv) { return Judge(::link(Word(argv, 1), Word(argv, 2))); }
