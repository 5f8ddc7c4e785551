// The pipes or the terminal between the server and a command that is about to start.
#pragma once

#include "base/owned_fd.h"
#include "base/result.h"
#include "process/command/command.h"

namespace holdfast::process {

struct Stdio {
  // The command's ends. The server closes them when the command has its own copies.
  OwnedFd child_in, child_out, child_err;
  // The server's ends, non-blocking. With a terminal `input` and `output` are the same master, and `error` is closed.
  OwnedFd input;  // closed if the command reads /dev/null
  OwnedFd output, error;
};

Result<Stdio> OpenStdio(const Io& io);

}  // namespace holdfast::process
