// The report on the start of a command, by which a program that runs it for another (Wrapper) says on a pipe how that
// went. The program writes one line, `started` once the command is executed or `failed STATUS REASON`. A program that
// becomes the command itself writes `executing` first: if the pipe ends then, the command was started too. An end
// without a whole report means that the program has died.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"

namespace holdfast::process {

// A report that is longer than this is read no further.
inline constexpr size_t kMaxStartReportBytes = 16 << 10;

// The writers leave a line in one piece. A reader that has gone away is not an error.
void ReportStarted(int fd);
void ReportExecuting(int fd);

// The reason's lines become one, and a long one is cut.
void ReportFailed(int fd, int status, std::string_view reason);

// Writes a line that another process has reported.
void PassReport(int fd, std::string_view line);

enum class ReportProgress { kMore, kComplete };

// Whether more of the report has to be read before it says anything.
ReportProgress ProgressOf(std::string_view report);

// What a complete report says, or one that the end of the pipe has cut off: nothing when the command was started, and
// otherwise the reason why not, as a kSystem error.
Result<> ParseStartReport(std::string_view report);

}  // namespace holdfast::process
