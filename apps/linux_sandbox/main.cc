// holdfast-linux-sandbox: one command, or the file helper, under one policy.
#include "fs_helper/helper_main.h"
#include "linux_sandbox/run_main.h"

int main(int argc, char** argv) { return holdfast::linux_sandbox::RunMain(argc, argv, holdfast::fs_helper::RunHelper); }
