#include "sandbox/jail/jail_end.h"

#include <unistd.h>

#include <utility>

#include <fmt/format.h>

#include "process/command/start_report.h"
#include "sandbox/jail/inner_stage.h"

namespace holdfast::sandbox {
namespace {

void PassOn(const std::string& report, std::optional<int> report_fd) {
  if (!report_fd) return;
  process::PassReport(*report_fd, report);
  ::close(*report_fd);
}

// Returns the error of an inner stage that has found a file removed or replaced.
std::optional<Error> OutOfDate(const std::string& report) {
  if (!report.starts_with(fmt::format("failed {} ", kOutOfDateStatus))) return std::nullopt;
  return Error{ErrorKind::kNotFound, process::ParseStartReport(report).error().message};
}

// The helper holds no stream of the command open, so that a reader of the command's output sees its end when the
// command closes it.
void ReleaseStreams(const OwnedFd& nothing) {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing.get(), stream);
}

}  // namespace

std::expected<int, NotStarted> AwaitEndOf(JailWatch& watch, const CallerLinks& caller, WhyNotStarted why) {
  const auto report = watch.AwaitReport();
  const auto out_of_date = report ? OutOfDate(*report) : std::nullopt;
  if (report && !out_of_date) {
    PassOn(*report, caller.report_fd);
    ReleaseStreams(caller.nothing);
  }
  const int status = watch.AwaitEnd();
  if (caller.terminal) caller.terminal->TakeBack();
  if (report && !out_of_date) return status;
  NotStarted not_started = out_of_date ? NotStarted(*out_of_date) : why(status, watch.complaints());
  // Another attempt would forget the signal.
  if (watch.was_signalled()) not_started.error.kind = ErrorKind::kSystem;
  return std::unexpected(std::move(not_started));
}

}  // namespace holdfast::sandbox
