// The program `holdfast-linux-sandbox`: it runs one command, or the file helper, under one policy.
#include "files/helper/helper_main.h"
#include "sandbox/run_main.h"

int main(int argc, char** argv) { return holdfast::sandbox::RunMain(argc, argv, holdfast::files::RunHelper); }
