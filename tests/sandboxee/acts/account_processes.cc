#include <unistd.h>

#include "sandboxee.h"

int main() { return JudgeReached(::acct("/sandboxee/no/such/file"), ENOENT); }
