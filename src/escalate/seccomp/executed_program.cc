#include "escalate/seccomp/executed_program.h"

#include <sys/stat.h>

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "escalate/caller/caller_state.h"
#include "sys/file_identity.h"

namespace holdfast::escalate {

// The kernel itself chooses the interpreter of binfmt_misc, which is judged like a program that was called.
bool RunsAsJudged(pid_t process, const Attempt& attempt, const JudgeFunction& judge) {
  struct stat executed;
  if (::stat(fmt::format("/proc/{}/exe", process).c_str(), &executed) != 0) return false;
  if (std::ranges::count(attempt.program.executables, sys::FileIdentity::Of(executed)) > 0) return true;
  const auto path = LinkOf(process, "exe");
  if (!path) return false;
  std::vector<std::string> argv = attempt.argv;
  if (!argv.empty()) argv.front() = *path;
  const auto judgement = judge({.file = *path, .argv = argv, .cwd = attempt.cwd});
  return judgement.action == exec_policy::Action::kRun && !judgement.asks;
}

}  // namespace holdfast::escalate
