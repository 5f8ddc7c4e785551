// The namespaces of a native sandbox: how a process enters them, and what it does in them first.
#pragma once

#include <sched.h>

#include <cstdint>

#include "base/result.h"
#include "sandbox/native/call_result.h"
#include "sys/pidfd.h"

namespace holdfast::sandbox {

// The namespaces that each command has for itself, whether its user namespace is new or that of a launcher.
inline constexpr uint64_t kOwnNamespaces = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;

// Clones this process, which has a single thread, into new namespaces, with all signals blocked in the child. It
// returns in both processes, as fork does: in the child with the pid 0.
CallResult<sys::Child> CloneInto(uint64_t namespaces);

// The user that a new user namespace maps to itself. It is read before the namespace is entered.
struct User {
  uid_t uid;
  gid_t gid;

  static User OfThisProcess();
};

// Makes a new user namespace usable, from inside: maps the user to itself, gives up setgroups, and limits the groups of
// inotify. The caller sees the host's /proc, writable.
CallResult<> SettleIn(const User& user);

// Brings the loopback interface of a new network namespace up.
Result<> RaiseLoopback();

}  // namespace holdfast::sandbox
