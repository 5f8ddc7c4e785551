// The report on the start of a command. A program that runs a command for the server (Wrapper) writes it to a pipe as
// one line: `started BACKEND` once the command is executed, or `failed STATUS REASON`. A program that becomes the
// command itself writes `executing BACKEND` first; if the pipe ends after that line, the command was started too. An
// end of the pipe without a complete report means that the program has died.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace holdfast::process {

// A reader stops reading a report that is longer than this.
inline constexpr size_t kMaxStartReportBytes = 16 << 10;

// The sandbox around a command, as the report tells it after the first word: `started bubblewrap REASON`.
struct Enforcement {
  std::string backend = {};  // native, bubblewrap or landlock; empty: the command has no sandbox
  std::string reason = {};  // why the backend before this one in the order of preference was not used; empty: no reason

  friend bool operator==(const Enforcement&, const Enforcement&) = default;
};

// Returns the kind of a failed start: kNoSuchProgram for the status 127, kCannotExecute for 126, kSystem for any other.
ErrorKind KindOfStatus(int status);

// These functions write a line in one piece. It is not an error if the reader has gone away.
void ReportStarted(int fd, const Enforcement& enforcement = {});
void ReportExecuting(int fd, const Enforcement& enforcement = {});

// The lines of the reason are joined into one, and a long reason is cut.
void ReportFailed(int fd, int status, std::string_view reason);

// Writes a line that another process has written as its report.
void PassReport(int fd, std::string_view line);

enum class ReportProgress { kMore, kComplete };

// Returns whether more of the report must be read before it can be parsed.
ReportProgress ProgressOf(std::string_view report);

// Parses a complete report, or one that was cut off by the end of the pipe. Returns the sandbox of a command that was
// started, and otherwise the reason of the failure.
Result<Enforcement> ParseStartReport(std::string_view report);

}  // namespace holdfast::process
