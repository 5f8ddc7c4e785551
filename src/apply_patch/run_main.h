// The program `apply_patch`: a patch from its argument or its standard input, applied in its working directory.
#pragma once

namespace holdfast::apply_patch {

// 0: applied. 1: a bad patch, or one that does not fit, or a failed write; the files are as they were, or standard
// error says which are not. 2: used in a wrong way.
int RunMain(int argc, char** argv);

}  // namespace holdfast::apply_patch
