// The reason why a supervised command could not be executed, as the command's process tells it to pid 1 through a pipe.
// The write end is close-on-exec, so that the end of the pipe without a reason means that the command runs.
#pragma once

#include <functional>
#include <optional>

#include "sandbox/confine/confinement.h"

namespace holdfast::sandbox {

// Writes the reason to the pipe. A failure is not reported: the reader is pid 1, and has ended then.
void SendFailure(int pipe, const NotExecuted& failure);

// Waits for the end of the pipe, and returns the reason if one has come. Meanwhile calls `has_to_end` whenever there is
// something to read from `link`, or its other end is closed, and returns early, with a reason of its own, when the
// function returns true: the supervisor may have to ask a person, and nothing waits for that answer then. -1 means that
// there is no link.
std::optional<NotExecuted> AwaitFailure(int pipe, int link, const std::function<bool()>& has_to_end);

}  // namespace holdfast::sandbox
