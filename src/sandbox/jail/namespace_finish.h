// What bubblewrap leaves to be done in the namespaces that it has made, before the command starts. The nodes of the
// private /dev are binds of the host's, and bubblewrap can bind them in no other way than writable: root could change
// their modes, and every user their times. The user's inotify and fanotify groups are one account for all of a user's
// processes, and a command could use it up. Both are mended from outside: the inner stage has no rights over mounts
// that bubblewrap has made for an ordinary user.
//
// What it does not stop: modes and times of the nodes on kernels before 5.12, and times with a set-user-ID bubblewrap,
// whose namespaces an ordinary user may not enter; several commands that use up the groups together.
#pragma once

#include "base/result.h"
#include "sandbox/plan/plan.h"

namespace holdfast::sandbox {

// `inner` is a pidfd of the inner stage, which waits.
Result<> FinishNamespaces(int inner, const Plan& plan);

}  // namespace holdfast::sandbox
