// The program `apply_patch`. It reads a patch from its argument or its standard input, and applies it in its working
// directory.
#pragma once

namespace holdfast::apply_patch {

// Returns the exit status of the program:
// - 0: The patch is applied.
// - 1: The patch is malformed or does not fit the files, or a write has failed. The files are as they were, or standard
//   error names those that are not.
// - 2: The command line is wrong.
int RunMain(int argc, char** argv);

}  // namespace holdfast::apply_patch
