// What whoever starts the server should know before the first sandboxed command fails.
#pragma once

#include <string>
#include <vector>

#include "doctor/surroundings.h"
#include "sandbox/jail/host_limits.h"

namespace holdfast::doctor {

// Sentences, none when all is well. Blocks for one run of bubblewrap, about 10 ms, at most 3 s, so a server has a
// process of its own for it: `holdfast doctor --startup`. What takes longer, or fails in a way that says nothing about
// the machine, is no warning.
std::vector<std::string> StartupWarnings(const Surroundings& surroundings, const sandbox::HostFacts& facts);
std::vector<std::string> StartupWarnings();

}  // namespace holdfast::doctor
