#include <sys/xattr.h>

#include "sandboxee.h"

int main(int, char** argv) { return Judge(::removexattr(Word(argv, 1), "user.planted")); }
