// Whether a sandboxed command probably failed because the sandbox denied it something. The kernel does not say: this
// goes by the exit code and by words in the output, as clients expect it.
#pragma once

#include "process/output_log.h"

namespace holdfast::exec_server {

bool LooksDenied(int exit_code, const process::OutputLog& output);

}  // namespace holdfast::exec_server
