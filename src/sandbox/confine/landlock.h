// Landlock: paths a command may use, enforced by the kernel whatever names or descriptors it finds. The best ABI of the
// running kernel is used.
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

// 0 when the kernel has none, or it is not enabled.
int LandlockAbi();

struct LandlockOptions {
  // What none of them names cannot be opened, listed, made, renamed or removed. No rules at all: files are left alone.
  std::vector<LandlockRule> rules;
  // Descriptors the command is given: a file, terminal or FIFO behind one may be opened again (/dev/stdout), for what
  // the descriptor is open for and no more.
  std::vector<int> passed_fds;
};

// For this thread and what it starts; no_new_privs is set. From ABI 6 on abstract sockets and processes of others are
// out of reach. Links in the paths are followed, unless a rule says which
// file it is for; paths that do not exist or cannot be reached are left out. Returns the ABI it was done with, 0 for
// none: the caller decides whether that is enough.
Result<int> Restrict(const LandlockOptions& options);

}  // namespace holdfast::sandbox
