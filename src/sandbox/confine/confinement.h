// The steps by which a process confines itself before it becomes a command, in this order: it holds signals, checks its
// standard streams, closes all other descriptors, gives up its capabilities (capabilities.h), confines itself, lets
// signals in, and executes the command. The steps are the same with namespaces around the process and without.
//
// What it does not stop: what the filter and Landlock leave open (seccomp_filter.h, landlock.h); anything done through
// descriptors 0, 1, 2 and those that are passed on purpose.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "process/command/command.h"
#include "sandbox/confine/seccomp_filter.h"
#include "sandbox/plan/plan.h"

namespace holdfast::sandbox {

// Blocks all signals and sets the action of each to its default. The command thus starts as from a fresh login,
// whatever the caller had ignored or blocked. Signals that arrive before sys::LetSignalsIn stay pending; none is lost.
void HoldSignals();

// Checks descriptors 0, 1 and 2. Opens /dev/null for each that is closed. Fails when one is a directory, or, where the
// network is restricted, a socket that could be used to reach anything but its peer.
Result<> CheckStreams(Filter filter);

// Closes all descriptors but the standard streams and `kept`. `kept` must be in rising order; these descriptors lose
// their close-on-exec flag, so that the command inherits them.
Result<> PassOnly(std::span<const int> kept);

struct Confinement {
  Filter filter = Filter::kRestrictedNetwork;
  Caller caller = Caller::kCommand;
  std::vector<LandlockRule> landlock = {};
  std::vector<int> kept_fds = {};           // besides 0, 1 and 2
  std::optional<int> port_ruleset_fd = {};  // port_ruleset.h
};

// Puts this process and all that it starts under Landlock and the filter, for good. A kernel without Landlock is no
// failure, because the mounts enforce the same rules.
Result<> Confine(const Confinement& confinement);

// The reason why a command could not be executed.
struct NotExecuted {
  int status = 0;  // the exit status a shell would give: 127 when there is no such program, 126 otherwise
  Error error = {};

  static constexpr std::string_view kRecord = "failure 1\n";
  void Fields(this auto& self, auto& f) { f(self.status, self.error.kind, self.error.message); }
};

// Executes the command by execvp, with the environment of this process: a program without a slash is looked up in PATH,
// and a script that names no interpreter is run by /bin/sh. Returns only when it fails.
NotExecuted Execute(const process::Command& command);

}  // namespace holdfast::sandbox
