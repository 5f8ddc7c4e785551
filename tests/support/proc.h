// Functions that read /proc, about processes that need not be children of the test.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::support {

// Returns whether the process runs or sleeps. A zombie is not alive.
bool IsAlive(pid_t pid);

std::vector<pid_t> ChildrenOf(pid_t pid);
std::vector<pid_t> DescendantsOf(pid_t pid);
// Returns the child that is pid 1 in a pid namespace of its own.
std::optional<pid_t> FirstProcessBelow(pid_t pid);
bool IsZombie(pid_t pid);
std::optional<std::string> ReadProcFile(pid_t pid, std::string_view name);

size_t CountFds(pid_t pid);
size_t ResidentKib(pid_t pid);

// Returns the processes whose environment had "NAME=value" when they were executed, without the calling process.
std::vector<pid_t> LivingWithVariable(std::string_view assignment);

}  // namespace holdfast::support
