// What a process does to itself before it becomes a command, in this order: hold signals, look at its streams, close
// the rest, give up capabilities (capabilities.h), confine itself, let signals in, execute. With namespaces around it
// or without.
//
// What it does not stop: what the filter and Landlock leave open (see there); anything done through descriptors 0, 1, 2
// and those passed on purpose.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "process/command/command.h"
#include "sandbox/confine/seccomp_filter.h"
#include "sandbox/plan/plan.h"

namespace holdfast::sandbox {

// Blocks all signals and sets each to its default: whatever the caller ignored or blocked, the command starts as from a
// fresh login. Until sys::LetSignalsIn nothing is lost.
void HoldSignals();

// Of descriptors 0, 1 and 2: opens those that are closed, refuses a directory, and, where the network is restricted, a
// socket that could be used to reach others than its peer.
Result<> CheckStreams(Filter filter);

// Closes everything but the standard streams and `kept`, which is in rising order and is inherited afterwards.
Result<> PassOnly(std::span<const int> kept);

struct Confinement {
  Filter filter = Filter::kRestrictedNetwork;
  Caller caller = Caller::kCommand;
  std::vector<LandlockRule> landlock = {};
  std::vector<int> kept_fds = {};           // besides 0, 1 and 2
  std::optional<int> port_ruleset_fd = {};  // port_ruleset.h
};

// For this process and all it starts, for good. A kernel without Landlock will do: mounts enforce the same rules.
Result<> Confine(const Confinement& confinement);

// Why a command is not running: its exit status as a shell has it, 127 when there is no such program and 126 when it
// cannot be executed, and the reason.
struct NotExecuted {
  int status;
  Error error;
};

// As execvp does it, with the environment of this process: a bare name is looked up in its PATH, and a script without
// an interpreter's name is run by /bin/sh. Returns only when it fails.
NotExecuted Execute(const process::Command& command);

}  // namespace holdfast::sandbox
