#include <sys/xattr.h>

#include "sandboxee.h"

int main(int, char** argv) { return Judge(::setxattr(Word(argv, 1), "user.sandboxee", "x", 1, 0)); }
