#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandboxee.h"

int main() { return Judge(::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION)); }
