#include "process/start_report.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/start_report_words.h"
#include "sys/io.h"

namespace holdfast::process {
namespace {

constexpr size_t kMaxReportBytes = 16 << 10;

// What comes before the end of a pipe, or of a line.
Result<> VerdictOf(std::string_view text) {
  const bool executing = text.starts_with(kExecutingLine);
  if (executing) text.remove_prefix(kExecutingLine.size());
  if (text == kStartedLine || (executing && text.empty())) return {};
  if (!text.starts_with(kFailedWord))
    return Fail(ErrorKind::kSystem, "the sandbox's helper ended before the command was started");
  text.remove_prefix(kFailedWord.size());
  text.remove_prefix(std::min(text.find(' ') + 1, text.size()));  // the status
  return Fail(ErrorKind::kSystem, std::string(text.substr(0, text.find('\n'))));
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
    const bool line_is_whole = text_.contains('\n') && text_ != kExecutingLine;
    if (line_is_whole || text_.size() > kMaxReportBytes) return Progress::kEnd;
  }
}

void StartReport::Decide() {
  if (!verdict_) return;
  std::exchange(verdict_, nullptr)(VerdictOf(text_));
}

}  // namespace holdfast::process
