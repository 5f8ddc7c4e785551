// The namespace trial finds out whether bubblewrap can make namespaces on this machine. The status of a bubblewrap that
// has failed does not tell the cause: the machine may allow no namespaces, or a path of the plan may have been removed,
// which a hostile command can do. So the namespaces are tried once more, without any path that others than root could
// change.
//
// What it does not stop: a hostile process of the user that uses up processes or memory makes the trial fail too.
#pragma once

#include <optional>

#include "sandbox/bubblewrap/bubblewrap.h"
#include "sandbox/plan/plan.h"

namespace holdfast::sandbox {

enum class Namespaces { kWork, kDoNotWork };

// Tries the kinds of namespaces, /dev and /proc that this plan has. It takes as long as a start, and is meant to be
// called after a failure.
Namespaces TryNamespaces(const Bubblewrap& bubblewrap, const NamespacePlan& plan, std::optional<int> sealed_program);

}  // namespace holdfast::sandbox
