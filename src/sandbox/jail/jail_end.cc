#include "sandbox/jail/jail_end.h"

#include <unistd.h>

#include "process/command/start_report.h"

namespace holdfast::sandbox {
namespace {

void PassOn(const std::string& report, std::optional<int> report_fd) {
  if (!report_fd) return;
  process::PassReport(*report_fd, report);
  ::close(*report_fd);
}

// The helper holds no stream of the command open, so that a reader of the command's output sees its end when the
// command closes it.
void ReleaseStreams(const OwnedFd& nothing) {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing.get(), stream);
}

}  // namespace

std::expected<int, NotStarted> AwaitEndOf(JailWatch& watch, const CallerLinks& caller, WhyNotStarted why) {
  const auto report = watch.AwaitReport();
  if (report) {
    PassOn(*report, caller.report_fd);
    ReleaseStreams(caller.nothing);
  }
  const int status = watch.AwaitEnd();
  if (caller.terminal) caller.terminal->TakeBack();
  if (!report) return std::unexpected(why(status, watch.complaints()));
  return status;
}

}  // namespace holdfast::sandbox
