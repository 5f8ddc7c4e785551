// holdfast-linux-sandbox: one command under one policy.
#include "linux_sandbox/run_main.h"

int main(int argc, char** argv) { return holdfast::linux_sandbox::RunMain(argc, argv); }
