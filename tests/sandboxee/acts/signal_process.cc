#include <csignal>

#include "sandboxee.h"

int main(int, char** argv) { return Judge(::kill(static_cast<pid_t>(Number(argv, 1)), SIGCONT)); }
