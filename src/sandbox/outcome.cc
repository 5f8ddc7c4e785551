#include "sandbox/outcome.h"

#include <unistd.h>

#include <fmt/format.h>

#include "process/command/start_report.h"
#include "sys/io.h"

namespace holdfast::sandbox {

void Say(std::string_view speaker, std::string_view message) {
  const std::string line = fmt::format("{}: {}\n", speaker, message);
  (void)sys::Write(STDERR_FILENO, line.data(), line.size());  // nobody is left to tell if this fails
}

int Conclude(std::string_view speaker, const Outcome& outcome, std::optional<int> report_fd) {
  if (outcome) return *outcome;
  const auto& [status, message] = outcome.error();
  Say(speaker, message);
  if (report_fd) process::ReportFailed(*report_fd, status, message.substr(0, message.find('\n')));  // without the usage
  return status;
}

}  // namespace holdfast::sandbox
