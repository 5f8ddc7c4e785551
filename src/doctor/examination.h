// The whole of an examination: what `holdfast doctor` says.
#pragma once

#include "doctor/report.h"
#include "doctor/surroundings.h"

namespace holdfast::doctor {

// Blocks for a tenth of a second or two; where every trial runs out of time, for half a minute. Forks and
// becomes the parent of what its children leave behind, so it is for a program that does nothing else. No process is
// left.
Report Examine(const Surroundings& surroundings);

// Sets `works` and `summary` by the policies and the sandbox program.
void Conclude(Report& report);

}  // namespace holdfast::doctor
