// The limits of one sandbox for the inotify instances and fanotify groups that the kernel counts for each user.
#pragma once

namespace holdfast::sandbox {

// Limits the user namespace of this process, with all processes in it. The caller has CAP_SYS_RESOURCE in it, and sees
// the host's /proc, writable. The limit has no effect where the user has a lower one already, or where it cannot be
// written, as in containers. The function is async-signal-safe.
void LimitGroups();

}  // namespace holdfast::sandbox
