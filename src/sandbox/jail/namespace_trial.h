// Whether this machine gives bubblewrap what every plan needs. A bubblewrap that fails does not say by its status whose
// fault that is: the machine has no namespaces for it, or a path of the plan was taken away, which a hostile command
// can do. So the namespaces are tried once more, without a path that anybody but root could touch.
//
// What it does not stop: a hostile process of the user that uses up processes or memory makes the trial fail too.
#pragma once

#include <optional>

#include "sandbox/jail/bubblewrap.h"
#include "sandbox/plan/plan.h"

namespace holdfast::sandbox {

enum class Namespaces { kWork, kDoNotWork };

// With the kinds of namespaces, /dev and /proc that this plan has. Takes as long as a start, and is for after a
// failure.
Namespaces TryNamespaces(const Bubblewrap& bubblewrap, const Plan& plan, std::optional<int> sealed_program);

}  // namespace holdfast::sandbox
