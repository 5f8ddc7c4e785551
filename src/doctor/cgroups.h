// FindCgroups finds out which control groups are mounted, and which controllers are delegated: those of this process's
// groups that this user may write in. It only looks at the modes of files and tries nothing, so the kernel may still
// refuse a controller. The sandbox uses no control groups.
#pragma once

#include <string>

#include "doctor/kernel_report.h"

namespace holdfast::doctor {

// Tests pass another directory as `root`.
CgroupsReport FindCgroups(const std::string& root = "/");

}  // namespace holdfast::doctor
