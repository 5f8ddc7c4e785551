// The outer stage completes the namespaces that bubblewrap has made, before the command starts. The nodes of the
// private /dev are binds of the host's nodes, and bubblewrap can bind them only writable: root could change their
// modes, and every user their times. So these mounts are made read-only. All processes of a user share one limit of
// inotify and fanotify groups, and a command could use it up. So the namespace gets a lower limit. Pinned links are
// mounted on themselves, because bubblewrap can mount only on what a link leads to. All this is done from outside,
// because the inner stage has no rights over mounts that bubblewrap has made for an ordinary user.
//
// What it does not stop: modes and times of the nodes on kernels before 5.12, and times with a set-user-ID bubblewrap,
// whose namespaces an ordinary user may not enter; several commands that use up the groups together.
#pragma once

#include <span>

#include "base/result.h"
#include "sandbox/plan/mount_check.h"
#include "sandbox/plan/plan.h"

namespace holdfast::sandbox {

// `inner` is a pidfd of the inner stage, which waits meanwhile. `noted` has the pinned links of the plan. Fails if one
// of them cannot be mounted, or has been replaced.
Result<> FinishNamespaces(int inner, const NamespacePlan& plan, std::span<const MountCheck> noted);

}  // namespace holdfast::sandbox
