#include <sys/swap.h>

#include "sandboxee.h"

int main() { return JudgeReached(::swapon("/sandboxee/no/such/file", 0), ENOENT); }
