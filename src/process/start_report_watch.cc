#include "process/start_report_watch.h"

#include <cerrno>
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

}  // namespace holdfast::process
