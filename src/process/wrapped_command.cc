#include "process/wrapped_command.h"

#include <memory>
#include <utility>

namespace holdfast::process {

WrappedCommand::WrappedCommand(loop::EventLoop& loop, Spawner& spawner, StartedKeeper started, const Wrapper& wrapper,
                               CommandObserver& observer)
    : observer_(observer),
      report_(loop, wrapper.report, [this](const Result<Enforcement>& outcome) { observer_.OnReport(outcome); }),
      keeper_(loop, spawner, std::move(started), static_cast<CommandObserver&>(*this)) {}

void WrappedCommand::OnStarted(pid_t pid) {
  observer_.OnStarted(pid);
  report_.Watch();
}

void WrappedCommand::OnExited(int wait_status) {
  report_.ReadRest();  // the wrapper has ended, so its report is complete
  observer_.OnExited(wait_status);
}

Result<std::unique_ptr<CommandWatch>> StartUnderKeeper(loop::EventLoop& loop, Spawner& spawner, const Command& command,
                                                       const Io& io, StdioFds stdio, CommandObserver& observer) {
  TRY(StartedKeeper started, spawner.Start(command, io, stdio));
  if (!command.wrapper) return std::make_unique<Keeper>(loop, spawner, std::move(started), observer);
  return std::make_unique<WrappedCommand>(loop, spawner, std::move(started), *command.wrapper, observer);
}

}  // namespace holdfast::process
