// An examination finds out everything that `holdfast doctor` prints.
#pragma once

#include "doctor/report.h"
#include "doctor/surroundings.h"

namespace holdfast::doctor {

// Examines this machine. It blocks for a tenth of a second or two, or for half a minute if every trial runs out of
// time. It forks, and it makes this process the subreaper of all its descendants, so it must be called by a program
// that does nothing else. It leaves no process behind.
Report Examine(const Surroundings& surroundings);

// Sets `works` and `summary`, from what the report has about the policies and the helper.
void Conclude(Report& report);

}  // namespace holdfast::doctor
