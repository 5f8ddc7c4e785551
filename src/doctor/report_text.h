// Text formats the doctor's report for people: one line for each thing, and the summary at the end.
#pragma once

#include <string>

#include "doctor/report.h"

namespace holdfast::doctor {

std::string Text(const Report& report);

}  // namespace holdfast::doctor
