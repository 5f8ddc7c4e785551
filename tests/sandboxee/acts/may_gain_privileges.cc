// Without no_new_privs a setuid program would run as its owner.
#include <sys/prctl.h>

#include "sandboxee.h"

int main() { return ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 ? kDone : Refused(EPERM); }
