#include <cstdio>

#include "sandboxee.h"

int main(int, char** argv) { return Judge(std::rename(Word(argv, 1), Word(argv, 2))); }
