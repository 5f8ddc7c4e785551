// Which control groups are mounted, and the controllers of the groups of this process in which this user may write.
// Nothing is tried: a controller may still be refused. The sandbox uses none.
#pragma once

#include <string>

#include "doctor/kernel_report.h"

namespace holdfast::doctor {

// `root` is for tests.
CgroupsReport FindCgroups(const std::string& root = "/");

}  // namespace holdfast::doctor
