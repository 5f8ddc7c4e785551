#include "sandbox/jail/start_report.h"

#include <algorithm>
#include <csignal>
#include <string>

#include <fmt/format.h>

#include "base/start_report_words.h"
#include "sys/io.h"

namespace holdfast::sandbox {
namespace {

constexpr size_t kMaxReason = 3000;  // a pipe takes 4096 bytes in one piece

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

}  // namespace holdfast::sandbox
