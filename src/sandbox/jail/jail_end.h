// The last part of a run in namespaces, which is the same for every backend: the helper waits for the report of the
// inner stage and passes it on, and then waits for the end of the sandbox.
#pragma once

#include <expected>
#include <optional>
#include <string>

#include "base/owned_fd.h"
#include "sandbox/jail/jail_watch.h"
#include "sandbox/jail/not_started.h"
#include "sandbox/jail/terminal.h"

namespace holdfast::sandbox {

// The connections of the helper to its caller.
struct CallerLinks {
  std::optional<int> report_fd;             // the report is written to it, and it is closed then
  const OwnedFd& nothing;                   // /dev/null, which takes the place of the standard streams
  const std::optional<Terminal>& terminal;  // the one that the helper was started on
};

// Returns why no command was started, from the exit status of the child that has ended, and from its complaints.
using WhyNotStarted = NotStarted (*)(int status, std::string complaints);

// Returns the exit status of the command. Without a report the command was not started, and `why` tells the reason.
std::expected<int, NotStarted> AwaitEndOf(JailWatch& watch, const CallerLinks& caller, WhyNotStarted why);

}  // namespace holdfast::sandbox
