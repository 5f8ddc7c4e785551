#include "escalate/wrapper_server/program_view.h"

#include "escalate/caller/caller_state.h"
#include "escalate/caller/program_file.h"

namespace holdfast::escalate {

using exec_policy::ProgramFile;

std::optional<ProgramFile> ViewProgram(pid_t caller, const std::string& path) {
  const auto state = ReadCallerState(caller);
  if (!state) return std::nullopt;
  const auto look = LookAtProgram(caller, path, *state);
  if (!look) return std::nullopt;
  // The wrapper has a shell read such a script. That shell is another program than the one that was judged.
  return look->needs_shell ? ProgramFile::kNotTheSame : look->file;
}

}  // namespace holdfast::escalate
