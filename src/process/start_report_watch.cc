#include "process/start_report_watch.h"

#include <cerrno>
#include <utility>

#include "sys/io.h"

namespace holdfast::process {

StartReportWatch::StartReportWatch(loop::EventLoop& loop, std::shared_ptr<const OwnedFd> pipe, Verdict verdict)
    : pipe_(std::move(pipe)), verdict_(std::move(verdict)), watch_(loop, pipe_->get(), [this] { OnReadable(); }) {}

void StartReportWatch::OnReadable() {
  if (ReadSome() == ReportProgress::kMore) return watch_.WatchReadable();
  Decide();
}

void StartReportWatch::ReadRest() {
  (void)ReadSome();  // there is no more to come
  Decide();
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

void StartReportWatch::Decide() {
  if (!verdict_) return;
  std::exchange(verdict_, nullptr)(ParseStartReport(text_));
}

}  // namespace holdfast::process
