#include "process/command/start_report.h"

#include <algorithm>
#include <csignal>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "sys/io.h"

namespace holdfast::process {
namespace {

constexpr std::string_view kStartedWord = "started";
constexpr std::string_view kExecutingWord = "executing";
constexpr std::string_view kFailedWord = "failed ";
constexpr size_t kMaxReason = 3000;  // a pipe accepts 4096 bytes in one piece

std::string Line(std::string_view word, const Enforcement& enforcement) {
  std::string line(word);
  if (!enforcement.backend.empty()) line += ' ' + enforcement.backend;
  if (!enforcement.reason.empty()) line += ' ' + enforcement.reason.substr(0, kMaxReason);
  std::ranges::replace(line, '\n', ' ');
  return line + '\n';
}

// Removes the first line from `report`, with its end, if its first word is `word`. Returns what the line tells about
// the sandbox. Returns nothing if the line begins with another word or has no end.
std::optional<Enforcement> TakeLine(std::string_view& report, std::string_view word) {
  const size_t end = report.find('\n');
  if (end == std::string_view::npos || !report.starts_with(word)) return std::nullopt;
  std::string_view rest = report.substr(word.size(), end - word.size());
  if (!rest.empty() && !rest.starts_with(' ')) return std::nullopt;
  rest.remove_prefix(std::min<size_t>(rest.size(), 1));
  report.remove_prefix(end + 1);
  const std::string_view backend = rest.substr(0, rest.find(' '));
  rest.remove_prefix(std::min(rest.size(), backend.size() + 1));
  return Enforcement{.backend = std::string(backend), .reason = std::string(rest)};
}

}  // namespace

// The statuses are those of shells.
ErrorKind KindOfStatus(int status) {
  if (status == 127) return ErrorKind::kNoSuchProgram;
  return status == 126 ? ErrorKind::kCannotExecute : ErrorKind::kSystem;
}

void PassReport(int fd, std::string_view line) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  (void)sys::Write(fd, line.data(), line.size());
  (void)std::signal(SIGPIPE, before);
}

void ReportStarted(int fd, const Enforcement& enforcement) { PassReport(fd, Line(kStartedWord, enforcement)); }

void ReportExecuting(int fd, const Enforcement& enforcement) { PassReport(fd, Line(kExecutingWord, enforcement)); }

void ReportFailed(int fd, int status, std::string_view reason) {
  std::string line = fmt::format("{}{} {}", kFailedWord, status, reason.substr(0, kMaxReason));
  std::ranges::replace(line, '\n', ' ');
  PassReport(fd, line + '\n');
}

ReportProgress ProgressOf(std::string_view report) {
  if (report.size() > kMaxStartReportBytes) return ReportProgress::kComplete;
  (void)TakeLine(report, kExecutingWord);  // another line may follow that one
  return report.empty() || !report.contains('\n') ? ReportProgress::kMore : ReportProgress::kComplete;
}

Result<Enforcement> ParseStartReport(std::string_view report) {
  const auto executing = TakeLine(report, kExecutingWord);
  if (executing && report.empty()) return *executing;
  std::string_view after = report;
  const auto started = TakeLine(after, kStartedWord);
  if (started && after.empty()) return *started;
  if (!report.starts_with(kFailedWord))
    return Fail(ErrorKind::kSystem, "the sandbox's helper ended before the command was started");
  report.remove_prefix(kFailedWord.size());
  const ErrorKind kind = KindOfStatus(ParseNumber<int>(report.substr(0, report.find(' '))).value_or(0));
  report.remove_prefix(std::min(report.find(' ') + 1, report.size()));
  return Fail(kind, std::string(report.substr(0, report.find('\n'))));
}

}  // namespace holdfast::process
