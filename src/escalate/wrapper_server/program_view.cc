#include "escalate/wrapper_server/program_view.h"

#include <utility>

#include "escalate/caller/caller_state.h"
#include "escalate/caller/caller_view.h"
#include "escalate/caller/program.h"
#include "escalate/caller/program_file.h"

namespace holdfast::escalate {

using exec_policy::ProgramFile;

std::optional<ProgramView> ViewProgram(pid_t caller, const std::string& path) {
  const auto state = ReadCallerState(caller);
  const auto view = CallerView::Of(caller);
  if (!state || !view) return std::nullopt;
  auto program = FindProgram(*view, path);
  if (!program) return std::nullopt;
  const auto look = LookAtProgram(*view, *program, *state);
  if (!look) return std::nullopt;
  // The wrapper has a shell read such a script. That shell is another program than the one that was judged.
  return ProgramView{.path = std::move(program->path),
                     .file = look->needs_shell ? ProgramFile::kNotTheSame : look->file,
                     .other_paths = std::move(program->other_paths),
                     .interpreter = std::move(program->interpreter),
                     .interpreter_paths = std::move(program->interpreter_paths)};
}

}  // namespace holdfast::escalate
