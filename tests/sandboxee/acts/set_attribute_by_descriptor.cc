#include <sys/xattr.h>

#include "sandboxee.h"

int main(int, char** argv) {
  return Judge(::fsetxattr(static_cast<int>(Number(argv, 1)), "user.sandboxee", "x", 1, 0));
}
