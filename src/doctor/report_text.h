// A report for people: a line for each thing, and the verdict last.
#pragma once

#include <string>

#include "doctor/report.h"

namespace holdfast::doctor {

std::string Text(const Report& report);

}  // namespace holdfast::doctor
