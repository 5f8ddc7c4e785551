// LooksDenied guesses whether a sandboxed command failed because the sandbox denied it something. The kernel does not
// tell, so the guess is made from the exit code and from phrases in the output, in the way that clients expect.
#pragma once

#include "process/output_log.h"

namespace holdfast::sandbox {

bool LooksDenied(int exit_code, const process::OutputLog& output);

}  // namespace holdfast::sandbox
