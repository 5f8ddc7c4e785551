#include "process/command/start_report.h"

#include <algorithm>
#include <csignal>
#include <string>

#include <fmt/format.h>

#include "sys/io.h"

namespace holdfast::process {
namespace {

constexpr std::string_view kStartedLine = "started\n";
constexpr std::string_view kExecutingLine = "executing\n";
constexpr std::string_view kFailedWord = "failed ";
constexpr size_t kMaxReason = 3000;  // a pipe accepts 4096 bytes in one piece

}  // namespace

void PassReport(int fd, std::string_view line) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  (void)sys::Write(fd, line.data(), line.size());
  (void)std::signal(SIGPIPE, before);
}

void ReportStarted(int fd) { PassReport(fd, kStartedLine); }

void ReportExecuting(int fd) { PassReport(fd, kExecutingLine); }

void ReportFailed(int fd, int status, std::string_view reason) {
  std::string line = fmt::format("{}{} {}", kFailedWord, status, reason.substr(0, kMaxReason));
  std::ranges::replace(line, '\n', ' ');
  PassReport(fd, line + '\n');
}

ReportProgress ProgressOf(std::string_view report) {
  const bool line_is_whole = report.contains('\n') && report != kExecutingLine;
  return line_is_whole || report.size() > kMaxStartReportBytes ? ReportProgress::kComplete : ReportProgress::kMore;
}

Result<> ParseStartReport(std::string_view report) {
  const bool executing = report.starts_with(kExecutingLine);
  if (executing) report.remove_prefix(kExecutingLine.size());
  if (report == kStartedLine || (executing && report.empty())) return {};
  if (!report.starts_with(kFailedWord))
    return Fail(ErrorKind::kSystem, "the sandbox's helper ended before the command was started");
  report.remove_prefix(kFailedWord.size());
  report.remove_prefix(std::min(report.find(' ') + 1, report.size()));  // skips the status
  return Fail(ErrorKind::kSystem, std::string(report.substr(0, report.find('\n'))));
}

}  // namespace holdfast::process
