// The lines by which a program that runs a command for another says on a pipe whether it was started: written by
// sandbox/jail/start_report.h, read by process/start_report.h.
#pragma once

#include <string_view>

namespace holdfast {

inline constexpr std::string_view kStartedLine = "started\n";
inline constexpr std::string_view kExecutingLine = "executing\n";  // about to become the command itself
inline constexpr std::string_view kFailedWord = "failed ";         // then the exit status, and the reason

}  // namespace holdfast
