// Which namespaces this process can make, found by making them in a child.
#pragma once

#include <array>
#include <chrono>
#include <string_view>

namespace holdfast::doctor {

// Each is tried inside the user namespace if there is one, as the sandbox does, and used a little: a namespace that
// gives no rights counts as none.
enum class NamespaceTrial { kUser, kIdMap, kMount, kIpc, kUts, kNetwork, kPid, kFreshProc };
inline constexpr size_t kNamespaceTrials = 8;

// By trial: 0 for done, else an errno; ETIMEDOUT for those there was no time for.
using NamespaceErrors = std::array<int, kNamespaceTrials>;

// Forks, so it is for programs without threads. No process is left when it returns.
NamespaceErrors TryNamespaces(std::chrono::milliseconds limit);

}  // namespace holdfast::doctor
