// Restrictions that a test puts on a child of its own, to see what a program does on a machine that allows less. Each
// function is called in the child, between fork and exec, and returns whether the restriction holds.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::support {

// Enters a user namespace and a mount namespace in which this process may change limits and mounts without changing the
// machine. Inside, it is root.
bool EnterOwnNamespaces();

// Sets a file of /proc/sys/user, such as max_mnt_namespaces, in the user namespace of this process.
bool SetNamespaceLimit(std::string_view name, std::string_view value);

// Makes system calls fail, as the filter of a container does. Each pair is the number of a call and an errno.
bool RefuseCalls(const std::vector<std::pair<int, int>>& calls);

// These functions change the /proc of a process that is in namespaces of its own. CoverProc covers a part of it, as
// containers do.
bool CoverProc();
bool MakeProcReadOnly();

// Makes `directory` the root directory. It gets /proc, /dev, and /usr with the libraries of programs.
bool EnterChroot(const char* directory);

}  // namespace holdfast::support
