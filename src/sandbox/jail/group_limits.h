// The limits of one sandbox for what the kernel counts for a user or for the whole machine: inotify instances, fanotify
// groups and pseudoterminals.
#pragma once

namespace holdfast::sandbox {

// The number of terminals that each private /dev/pts can have, for the mount option `max`. The machine has 3072 for all
// of these together, unless the administrator has chosen another number.
inline constexpr const char* kMaxTerminals = "128";

// Limits the user namespace of this process, with all processes in it. The caller has CAP_SYS_RESOURCE in it, and sees
// the host's /proc, writable. The limit has no effect where the user has a lower one already, or where it cannot be
// written, as in containers. The function is async-signal-safe.
void LimitGroups();

}  // namespace holdfast::sandbox
