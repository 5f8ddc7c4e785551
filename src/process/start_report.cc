#include "process/start_report.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "sys/io.h"

namespace holdfast::process {
namespace {

constexpr size_t kMaxReportBytes = 16 << 10;

Result<> VerdictOf(std::string_view line) {
  constexpr std::string_view failed = "failed ";
  if (!line.starts_with(failed)) return {};
  line.remove_prefix(failed.size());
  line.remove_prefix(std::min(line.find(' ') + 1, line.size()));  // the status
  return Fail(ErrorKind::kSystem, std::string(line));
}

}  // namespace

StartReport::StartReport(loop::EventLoop& loop, std::shared_ptr<const OwnedFd> pipe, Verdict verdict)
    : pipe_(std::move(pipe)), verdict_(std::move(verdict)), watch_(loop, pipe_->get(), [this] { OnReadable(); }) {}

void StartReport::OnReadable() {
  if (ReadSome() == Progress::kMore) return watch_.WatchReadable();
  Decide();
}

void StartReport::ReadRest() {
  (void)ReadSome();
  Decide();
}

StartReport::Progress StartReport::ReadSome() {
  for (;;) {
    char piece[1024];
    const ssize_t size = sys::Read(pipe_->get(), piece, sizeof piece);
    if (size == -EAGAIN) return Progress::kMore;
    if (size <= 0) return Progress::kEnd;
    text_.append(piece, static_cast<size_t>(size));
    if (text_.contains('\n') || text_.size() > kMaxReportBytes) return Progress::kEnd;
  }
}

void StartReport::Decide() {
  if (!verdict_) return;
  std::exchange(verdict_, nullptr)(VerdictOf(std::string_view(text_).substr(0, text_.find('\n'))));
}

}  // namespace holdfast::process
