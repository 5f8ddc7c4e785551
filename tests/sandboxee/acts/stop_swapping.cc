#include <sys/swap.h>

#include "sandboxee.h"

int main() { return JudgeReached(::swapoff("/sandboxee/no/such/file"), ENOENT); }
