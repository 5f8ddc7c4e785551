#include "process/wrapped_command.h"

#include <cerrno>
#include <memory>
#include <utility>

#include "sys/io.h"

namespace holdfast::process {

StartReportWatch::StartReportWatch(loop::EventLoop& loop, std::shared_ptr<const OwnedFd> pipe, OnReport on_report)
    : pipe_(std::move(pipe)), on_report_(std::move(on_report)), watch_(loop, pipe_->get(), [this] { OnReadable(); }) {}

void StartReportWatch::OnReadable() {
  if (ReadSome() == ReportProgress::kMore) return watch_.WatchReadable();
  Finish();
}

void StartReportWatch::ReadRest() {
  (void)ReadSome();  // nothing more will come
  Finish();
}

ReportProgress StartReportWatch::ReadSome() {
  for (;;) {
    char piece[1024];
    const ssize_t size = sys::Read(pipe_->get(), piece, sizeof piece);
    if (size == -EAGAIN) return ReportProgress::kMore;
    if (size <= 0) return ReportProgress::kComplete;
    text_.append(piece, static_cast<size_t>(size));
    if (ProgressOf(text_) == ReportProgress::kComplete) return ReportProgress::kComplete;
  }
}

void StartReportWatch::Finish() {
  if (!on_report_) return;
  std::exchange(on_report_, nullptr)(ParseStartReport(text_));
}

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
