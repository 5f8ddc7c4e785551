// The launcher is a helper that stays. It builds the mounts of one plan once, in a mount namespace of its own: the
// template. For each command that the server asks for (launcher_protocol.h) it clones pid 1 of a sandbox, which has a
// copy of the template. Then it has nothing to do with that command any more: pid 1 is the keeper of its command, and
// goes on when the launcher has ended.
//
// All commands of a launcher share its user namespace, the mounts of the template, and an empty network namespace, in
// which no command can make a socket. Everything else is fresh for each command: the namespaces of processes, mounts,
// IPC, host names and control groups, and /proc, /dev/shm and /dev/pts.
//
// What it does not stop: a command that looks into /proc/net/unix sees how many pairs of sockets other commands of the
// launcher have, without any address. The limits that the kernel keeps for a user namespace, such as those of inotify,
// are shared by all commands of the launcher. A server that asks for a command it should not run gets it: the launcher
// trusts the server, and gets nothing from any command.
#pragma once

#include <optional>
#include <span>

#include "base/owned_fd.h"
#include "base/result.h"
#include "sandbox/jail/mount_check.h"
#include "sandbox/native/launcher_protocol.h"
#include "sandbox/plan/plan.h"

namespace holdfast::sandbox {

// The sandbox that a launcher makes for each command.
struct LauncherSandbox {
  const NamespacePlan& plan;          // its Landlock rules have the identities of the files that they are about
  std::span<const MountCheck> noted;  // as MountBuilder needs them
  PlanKey plan_key;
  std::optional<int> port_ruleset_fd = {};  // confine/port_ruleset.h
};

// Builds the template, and serves the requests that come on `socket` until its other end is closed. The calling process
// has a single thread, and is changed for good. Fails if the template cannot be built; then no request has been
// received. The program of this process becomes that of each pid 1, so it has to be one that no command can change
// (own_image.h).
Result<> RunLauncherProcess(const LauncherSandbox& sandbox, OwnedFd socket);

}  // namespace holdfast::sandbox
