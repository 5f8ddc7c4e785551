#include "files/workers/file_helper.h"

#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "sandbox/plan/program_names.h"
#include "sys/exit_status.h"
#include "sys/io.h"
#include "sys/socket_pair.h"

namespace holdfast::files {

Result<std::unique_ptr<FileHelper>> FileHelper::Start(loop::EventLoop& loop, process::Spawner& spawner,
                                                      const process::Command& command, Owner& owner) {
  TRY(sys::SocketPair socket, sys::MakeSocketPair(sys::SocketKind::kStream));
  TRY(const OwnedFd errors, sys::OpenDevNull());
  TRY(process::StartedKeeper started,
      spawner.Start(command, process::Pipes{}, {socket.theirs.get(), socket.theirs.get(), errors.get()}));
  std::unique_ptr<FileHelper> helper(new FileHelper(loop, command, std::move(socket.ours), owner));
  helper->keeper_ = std::make_unique<process::Keeper>(loop, spawner, std::move(started),
                                                      static_cast<process::KeeperObserver&>(*helper));
  return helper;
}

FileHelper::FileHelper(loop::EventLoop& loop, const process::Command& command, OwnedFd socket, Owner& owner)
    : owner_(owner),
      link_(std::make_shared<HelperLink>(std::move(socket))),
      report_(loop, command.wrapper->report, [this](const Result<>& started) { OnReport(started); }) {}

void FileHelper::OnStarted(pid_t) { report_.Watch(); }

void FileHelper::OnStartFailed(process::StartStep, int errno_value) {
  TellReady(FailErrno("execute", sandbox::kProgramName, errno_value));
}

// A file helper that has ended right after its start does not count as ready. It is killed, and its end then counts as
// a failed start; otherwise the waiting request would have one file helper started after the other.
void FileHelper::OnReport(const Result<>& started) {
  if (started && !link_->IsQuiet()) return Kill();
  TellReady(started);
}

void FileHelper::OnExited(int wait_status) {
  report_.ReadRest();
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
