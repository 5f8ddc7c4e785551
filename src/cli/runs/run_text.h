// The state of a run in words.
#pragma once

#include <chrono>
#include <string>

#include "wire/shared_session_messages.h"

namespace holdfast::cli {

// Returns "running", "exited with 3", "starting" or "empty".
std::string StateText(const wire::ListedSession& run);

// Returns the command as one line that bash would read as the same words; of a very long one only parts are shown.
std::string CommandText(const wire::ListedSession& run);

// Returns the time since a moment in milliseconds since the epoch, such as "5m 3s".
std::string AgeText(int64_t since_ms, std::chrono::system_clock::time_point now);

// Returns a moment in the local time zone.
std::string MomentText(int64_t ms);

}  // namespace holdfast::cli
