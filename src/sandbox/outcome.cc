#include "sandbox/outcome.h"

#include <unistd.h>

#include <utility>

#include <fmt/format.h>

#include "base/shown_text.h"
#include "process/command/start_report.h"
#include "sys/io.h"

namespace holdfast::sandbox {

std::unexpected<Failure> Fails(int status, std::string message) {
  return std::unexpected(Failure{status, std::move(message)});
}

std::string_view CalledAs(int argc, char** argv) {
  const std::string_view path = argc > 0 ? argv[0] : "";
  return path.substr(path.rfind('/') + 1);
}

void WriteMessage(std::string_view called_as, std::string_view message) {
  const std::string line = fmt::format("{}: {}\n", ShownText(called_as), ShownLines(message));
  (void)sys::Write(STDERR_FILENO, line.data(), line.size());  // a failure cannot be reported anywhere else
}

int Conclude(std::string_view called_as, const Outcome& outcome, std::optional<int> report_fd) {
  if (outcome) return *outcome;
  const auto& [status, message, is_about_change] = outcome.error();
  WriteMessage(called_as, message);
  // The report has only the first line. The help text may follow it.
  if (report_fd) process::ReportFailed(*report_fd, status, message.substr(0, message.find('\n')));
  return status;
}

}  // namespace holdfast::sandbox
