// A sandbox in short, as lists of processes show it.
#pragma once

#include <optional>

#include "sandbox/policy/sandbox_spec.h"
#include "wire/process_list_messages.h"

namespace holdfast::sandbox {

// Returns nothing if the sandbox restricts nothing. Of more than 4 KiB of paths only the first are in the result.
std::optional<wire::ListedSandbox> SummaryOf(const SandboxSpec& spec);

}  // namespace holdfast::sandbox
