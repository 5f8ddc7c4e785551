// The program that a process has executed, compared with the one that was judged. A path which the process can change
// may lead to another program by the time when the kernel follows it.
#pragma once

#include <sys/types.h>

#include "escalate/seccomp/attempt.h"
#include "escalate/seccomp/supervisor_settings.h"

namespace holdfast::escalate {

// Returns whether a process that has just executed the program of an attempt runs that program, or one that may run
// anyway. The process has not made its first step yet.
bool RunsAsJudged(pid_t process, const Attempt& attempt, const JudgeFunction& judge);

}  // namespace holdfast::escalate
