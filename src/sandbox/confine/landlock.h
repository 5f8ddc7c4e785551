// Landlock rules name the paths that a command may use. The kernel enforces them by whatever name or descriptor the
// command reaches a file. The best ABI of the running kernel is used.
//
// What it does not cover: chmod, chown, xattr, utime, stat and chdir (the mounts do); descriptors that are open
// already, and pipes, sockets and memory files reached through /proc/self/fd; connecting to a named socket; abstract
// sockets and signals before ABI 6; ioctl on devices before ABI 5; truncate before ABI 3. Before ABI 2 no file can be
// moved between directories at all.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/plan/plan.h"

namespace holdfast::sandbox {

// Returns the Landlock ABI of the running kernel, 0 when the kernel has no Landlock or has not enabled it.
int LandlockAbi();

struct LandlockOptions {
  // A path that no rule covers cannot be opened, listed, made, renamed or removed. Without any rule, access to files is
  // not restricted at all.
  std::vector<LandlockRule> rules;
  // The descriptors that the command is given. The file, terminal or FIFO behind one may be opened again, for example
  // as /dev/stdout, but only for the reading or writing that the descriptor is open for.
  std::vector<int> passed_fds;
};

// Restricts this thread and all that it starts, for good, and sets no_new_privs. From ABI 6 on, abstract sockets of
// processes outside cannot be connected to, and those processes cannot be signalled. Links in the paths are followed,
// unless a rule names the identity of its file. Paths that do not exist or cannot be reached are left out. Returns the
// ABI that was used, 0 when the kernel has no Landlock: the caller decides whether that is enough.
Result<int> Restrict(const LandlockOptions& options);

}  // namespace holdfast::sandbox
