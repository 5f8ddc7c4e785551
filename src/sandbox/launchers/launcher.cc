#include "sandbox/launchers/launcher.h"

#include <sys/wait.h>

#include <utility>

#include <fmt/format.h>

#include "process/wrapped_command.h"
#include "sandbox/plan/program_names.h"
#include "sys/descriptor_passing.h"
#include "sys/exit_status.h"
#include "sys/io.h"

namespace holdfast::sandbox {

Result<std::unique_ptr<Launcher>> Launcher::Start(loop::EventLoop& loop, process::Spawner& spawner,
                                                  const process::Command& command, OwnedFd socket, Owner& owner) {
  TRY(const OwnedFd nothing, sys::OpenDevNull());
  std::unique_ptr<Launcher> launcher(new Launcher(std::move(socket), owner));
  const process::StdioFds stdio{nothing.get(), nothing.get(), nothing.get()};
  TRY(launcher->watch_, process::StartUnderKeeper(loop, spawner, command, process::Pipes{}, stdio,
                                                  static_cast<process::CommandObserver&>(*launcher)));
  return launcher;
}

Result<> Launcher::Send(std::span<const int> fds) {
  TRY_VOID(sys::SendWithDescriptors(socket_.get(), "e", fds));
  return {};
}

void Launcher::OnStartFailed(process::StartStep, int errno_value) {
  TellEnded(End::kByItself, ErrnoError("execute", kProgramName, errno_value));
}

void Launcher::OnReport(const Result<process::Enforcement>& outcome) {
  if (!outcome) failure_ = outcome.error();
}

void Launcher::OnExited(int wait_status) {
  const Error status{ErrorKind::kSystem,
                     fmt::format("the launcher ended with status {}", sys::ExitStatusOf(wait_status))};
  TellEnded(WIFSIGNALED(wait_status) ? End::kKilled : End::kByItself, failure_.value_or(status));
}

void Launcher::OnGone() {
  TellEnded(End::kKilled, {ErrorKind::kSystem, "the keeper of the launcher was killed"});
  owner_.OnLauncherGone(*this);
}

void Launcher::TellEnded(End end, const Error& why) {
  if (!std::exchange(told_, true)) owner_.OnLauncherEnded(*this, end, why);
}

}  // namespace holdfast::sandbox
