// One line for whoever starts a sandbox, on a descriptor of its own: `started` once the command is executed, or
// `failed STATUS REASON`. It leaves in one piece, and a reader that has gone away is not told. A process that becomes
// the command itself says `executing` first: the end after that means started too. The end without a word means that
// the process has died.
#pragma once

#include <string_view>

namespace holdfast::sandbox {

void ReportStarted(int fd);
void ReportExecuting(int fd);

// The reason's lines become one, and a long one is cut.
void ReportFailed(int fd, int status, std::string_view reason);

// A line that has been reported elsewhere.
void PassReport(int fd, std::string_view line);

}  // namespace holdfast::sandbox
