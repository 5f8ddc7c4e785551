// The native trial finds out whether the native backend works on this machine. It makes the namespaces, maps the ids
// and makes each kind of mount once, in a child that ends at once, without any path of a plan. When a start has failed,
// the trial tells the cause apart: the machine, or a path that was removed or replaced, which a hostile command can do.
//
// What it does not stop: a hostile process of the user that uses up the namespaces of the user makes the trial fail
// too.
#pragma once

#include <optional>
#include <string>

#include "sandbox/jail/host_limits.h"
#include "sandbox/plan/plan.h"

namespace holdfast::sandbox {

// The parts of a plan that not every machine allows.
struct NativeNeeds {
  bool own_network = true, fresh_proc = true;
};

NativeNeeds NeedsOf(const NamespacePlan& plan);

enum class NativeStep { kNamespaces, kIdMaps, kReadOnlyRoot, kCopyOfMounts, kTmpfs, kDevpts, kProc, kAttachment };

struct NativeFailure {
  NativeStep step = NativeStep::kNamespaces;
  int error = 0;  // an errno
  // clone3 is unknown (ENOSYS), and unshare is refused: a filter of system calls is the cause, and not an old kernel.
  bool refused_by_unshare = false;

  friend bool operator==(const NativeFailure&, const NativeFailure&) = default;
};

// Tries the steps. Returns the first that fails; nothing when all of them work, or when a lack of processes, memory or
// descriptors prevents the trial, because that tells nothing about the machine. The caller has no other threads. It
// takes about a millisecond.
std::optional<NativeFailure> TryNative(const NativeNeeds& needs);

// Returns the step and the kernel's error, such as "clone3: No space left on device".
std::string Text(const NativeFailure& failure);

// Returns the cause and the remedy, in a sentence or two.
std::string Explain(const HostFacts& facts, const NativeFailure& failure);

}  // namespace holdfast::sandbox
