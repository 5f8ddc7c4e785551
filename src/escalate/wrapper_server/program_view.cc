#include "escalate/wrapper_server/program_view.h"

#include <utility>

#include "escalate/caller/caller_view.h"
#include "escalate/caller/program.h"

namespace holdfast::escalate {

using exec_policy::ProgramFile;

std::optional<ProgramView> ViewProgram(pid_t caller, const std::string& file) {
  const auto state = ReadCallerState(caller);
  const auto view = CallerView::Of(caller);
  auto cwd = WorkingDirectoryOf(caller);
  if (!state || !view || !cwd) return std::nullopt;
  auto program = FindProgram(*view, file);
  if (!program) return std::nullopt;
  const auto look = LookAtProgram(*view, *program, *state);
  if (!look) return std::nullopt;
  auto directory = OpenOutsideDirectory(caller);
  // The wrapper has a shell read a script that needs one. That shell is another program than the one that was judged.
  return ProgramView{.path = std::move(program->path),
                     .file = look->needs_shell ? ProgramFile::kNotTheSame : look->file,
                     .other_paths = std::move(program->other_paths),
                     .interpreter = std::move(program->interpreter),
                     .interpreter_paths = std::move(program->interpreter_paths),
                     .cwd = *std::move(cwd),
                     .directory = directory ? std::optional(*std::move(directory)) : std::nullopt};
}

}  // namespace holdfast::escalate
