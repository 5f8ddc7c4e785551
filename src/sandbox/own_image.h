// The own image is the program file that the helper runs from. The native backend starts the command from the helper's
// own program, and a script can name the program that executes it as its interpreter (`#!/proc/self/exe`). The command
// reaches that file then, through a mount outside of the sandbox. So the file has to be one that the command cannot
// change:
//   - a file that belongs to another user and that this user may not write;
//   - the same file on a read-only mount of its own, which is attached nowhere (only with CAP_SYS_ADMIN, as root has
//   it);
//   - a copy in sealed memory.
//
// The last two need a second execution of the helper, which takes 0.7 ms. The copy takes 1 to 3 ms, and the mount 0.1
// ms.
//
// Such a file of another user is safe, because everything that a mount could forbid is forbidden by the file itself:
// content, mode, times, attributes and leases need the right to write or the owner. The file is no directory, so
// nothing else on its mount is reached through it, and pid 1, which is not dumpable, leads to no other descriptor of
// the helper. The helper of a package, run by an ordinary user, is such a file. Nothing inside can make the mount
// writable again: it has no place in any tree, and a command has no capability.
//
// What it does not stop: a command that executes or reads the helper's program, where the policy does not let it read
// the helper's directory.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sandbox/sandboxed_command.h"

namespace holdfast::sandbox {

// Fails, with the reason, unless this process runs from a file that a command of this user cannot change. `program` is
// the descriptor of the flag --program-fd: when it is given, the process has to run from that copy or mount.
Result<> CheckOwnImage(std::optional<int> program);

// Executes this program again, from such a mount or copy, for the same command, whose profile is a value. The profile
// is passed by descriptor. Returns only after a failure. The caller has no descriptor of --program-fd, so that this
// happens once.
Error ExecuteOutOfReach(SandboxedCommand command, std::string_view called_as);

}  // namespace holdfast::sandbox
