// The programs that the sandbox uses, as an examination finds them.
#pragma once

#include "doctor/report.h"
#include "doctor/surroundings.h"

namespace holdfast::doctor {

// The one that a sandboxed command would get.
BubblewrapReport ExamineBubblewrap(const Surroundings& surroundings);

// The one beside the program, whether it is used or not. The helper is asked whether it would take it.
BundledReport ExamineBundled(const Surroundings& surroundings);

RipgrepReport ExamineRipgrep(const Surroundings& surroundings);

}  // namespace holdfast::doctor
