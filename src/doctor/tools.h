// The programs that the sandbox uses, as an examination finds them.
#pragma once

#include "doctor/report.h"
#include "doctor/surroundings.h"

namespace holdfast::doctor {

// The one that the server runs. Whether it works is for policy_trials.h to say.
SandboxProgramReport ExamineSandboxProgram(const Surroundings& surroundings);

// The one that a sandboxed command would get. The first on PATH is named with the
// reason when it is passed over: others can write it, or it lacks options.
BubblewrapReport ExamineBubblewrap(const Surroundings& surroundings);

// The one beside the program, whether it is used or not. The sandbox program is asked whether it would take it.
BundledReport ExamineBundled(const Surroundings& surroundings);

}  // namespace holdfast::doctor
