// The program `apply_patch`: the patch tool that commands find first in their PATH.
#include "apply_patch/run_main.h"

int main(int argc, char** argv) { return holdfast::apply_patch::RunMain(argc, argv); }
