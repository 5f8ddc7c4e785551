// These functions examine the programs that the sandbox uses, and the one that its commands expect.
#pragma once

#include "doctor/report.h"
#include "doctor/surroundings.h"

namespace holdfast::doctor {

// Examines the helper, holdfast-linux-sandbox, which the server runs too. Only whether it can be executed is checked
// here; policy_trials.h finds out whether it works.
ProgramReport ExamineSandboxProgram(const Surroundings& surroundings);

// Examines the bubblewrap that the helper would use. If that is not the first one on PATH, the finding names the first
// one with the reason why it is not used: other users can write it, or it lacks options.
BubblewrapReport ExamineBubblewrap(const Surroundings& surroundings);

// Examines the bundled bubblewrap beside the program, whether it is used or not. The helper is run to find out whether
// it accepts the bundled bubblewrap.
BundledReport ExamineBundled(const Surroundings& surroundings);

// Examines the program to which the link `rg` leads that commands find first in their PATH.
ProgramReport ExamineRipgrep(const Surroundings& surroundings);

}  // namespace holdfast::doctor
