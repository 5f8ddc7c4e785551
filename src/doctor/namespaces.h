// TryNamespaces finds out which namespaces this process can make, by making them in a child.
#pragma once

#include <array>
#include <chrono>
#include <string_view>

namespace holdfast::doctor {

// The trials. Each is made inside of the user namespace if that could be made, as in a sandbox. A mount or network
// namespace is also used a little, because a namespace that gives no rights is of no use.
enum class NamespaceTrial { kUser, kIdMap, kMount, kIpc, kUts, kNetwork, kPid, kFreshProc };
inline constexpr size_t kNamespaceTrials = 8;

// The result of each trial: 0 for success, or an errno; ETIMEDOUT if there was no time for the trial.
using NamespaceErrors = std::array<int, kNamespaceTrials>;

// Forks, so it must be called by a program without threads. It leaves no process behind.
NamespaceErrors TryNamespaces(std::chrono::milliseconds limit);

}  // namespace holdfast::doctor
