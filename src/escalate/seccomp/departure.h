// A Departure is what a program takes with it if it leaves the sandbox, beside its path and its arguments. It is fixed
// when the call is judged: while a person is asked, a hostile process could rename its directory, and exchange its
// streams and its variables.
#pragma once

#include <vector>

#include "escalate/caller/or_errno.h"
#include "escalate/caller/outside_directory.h"
#include "escalate/outside/outside_order.h"
#include "process/command/environment.h"

namespace holdfast::escalate {

struct Departure {
  OrErrno<OutsideDirectory> directory;       // after an error, the program does not leave
  OrErrno<std::vector<PassedFd>> streams{};  // likewise
  process::Environment variables = {};       // those of the caller that the program gets
};

}  // namespace holdfast::escalate
