// The settings of a supervisor.
#pragma once

#include <cstddef>
#include <functional>

#include "exec_policy/judge.h"
#include "process/command/environment.h"

namespace holdfast::escalate {

enum class Strictness { kUsual, kStrict };

// The execve of the helper, by which the supervised command itself starts.
enum class FirstExec { kTrusted, kJudged };

using JudgeFunction = std::function<exec_policy::Judgement(const exec_policy::ExecAttempt&)>;

struct SupervisorSettings {
  JudgeFunction judge;
  Strictness strictness = Strictness::kUsual;
  FirstExec first = FirstExec::kJudged;
  // The environment that the supervised command is started with. Commands outside get it too (outside_environment.h).
  process::Environment environment = {};
  // The bounds of what one tree can make this program hold. Beyond them, execve fails with EAGAIN.
  size_t max_stubs = 256, max_questions = 64, max_bytes = 64 << 20;
};

}  // namespace holdfast::escalate
