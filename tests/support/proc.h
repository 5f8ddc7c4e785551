// What /proc knows about processes that are not ours to wait for.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::support {

// Running or sleeping. A zombie is dead: it only waits for its parent.
bool IsAlive(pid_t pid);

std::vector<pid_t> ChildrenOf(pid_t pid);
std::vector<pid_t> DescendantsOf(pid_t pid);
bool IsZombie(pid_t pid);
std::optional<std::string> ReadProcFile(pid_t pid, std::string_view name);

size_t CountFds(pid_t pid);
size_t ResidentKib(pid_t pid);

// Processes whose environment at exec held "NAME=value", the calling one left out.
std::vector<pid_t> LivingWithVariable(std::string_view assignment);

}  // namespace holdfast::support
