// Which control groups there are, and which of their controllers this user may set for groups of its own.
#pragma once

#include <string>

#include "doctor/kernel_report.h"

namespace holdfast::doctor {

// `root` is for tests.
CgroupsReport FindCgroups(const std::string& root = "/");

}  // namespace holdfast::doctor
