#include "files/workers/file_helper.h"

#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "process/wrapped_command.h"
#include "sandbox/plan/program_names.h"
#include "sys/exit_status.h"
#include "sys/io.h"
#include "sys/socket_pair.h"

namespace holdfast::files {

Result<std::unique_ptr<FileHelper>> FileHelper::Start(loop::EventLoop& loop, process::Spawner& spawner,
                                                      const process::Command& command, Owner& owner) {
  TRY(sys::SocketPair socket, sys::MakeSocketPair(sys::SocketKind::kStream));
  TRY(const OwnedFd errors, sys::OpenDevNull());
  std::unique_ptr<FileHelper> helper(new FileHelper(std::move(socket.ours), owner));
  const process::StdioFds stdio{socket.theirs.get(), socket.theirs.get(), errors.get()};
  TRY(helper->watch_, process::StartUnderKeeper(loop, spawner, command, process::Pipes{}, stdio,
                                                static_cast<process::CommandObserver&>(*helper)));
  return helper;
}

void FileHelper::OnStartFailed(process::StartStep, int errno_value) {
  TellReady(FailErrno("execute", sandbox::kProgramName, errno_value));
}

// A file helper that has ended right after its start does not count as ready. It is killed, and its end then counts as
// a failed start; otherwise the waiting request would have one file helper started after the other.
void FileHelper::OnReport(const Result<process::Enforcement>& started) {
  if (started && !link_->IsQuiet()) return Kill();
  TellReady(started ? Result<>() : std::unexpected(started.error()));
}

void FileHelper::OnExited(int wait_status) {
  TellReady(Fail(ErrorKind::kSystem,
                 fmt::format("the sandbox's file helper ended with status {}", sys::ExitStatusOf(wait_status))));
}

void FileHelper::OnGone() {
  TellReady(Fail(ErrorKind::kSystem, "the sandbox's file helper was killed while it started"));
  owner_.OnHelperGone(*this);
}

void FileHelper::TellReady(const Result<>& ready) {
  if (!std::exchange(told_, true)) owner_.OnHelperReady(*this, ready);
}

}  // namespace holdfast::files
