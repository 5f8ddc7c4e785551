// The state of a run in words.
#pragma once

#include <chrono>
#include <string>

#include "wire/shared_session_messages.h"

namespace holdfast::cli {

// Returns "running", "exited with 3", "ended by SIGTERM", "starting" or "empty".
std::string StateText(const wire::ListedSession& run);

// Returns what restricts the command, such as "read-only" or "workspace-write+network+rules"; "none" if nothing does.
std::string RestrictionText(const wire::ListedSession& run);

// Returns the directory of the command; empty if the server does not say it.
std::string DirectoryText(const wire::ListedSession& run);

// Returns a path that the server has sent as a file: URI or as it is.
std::string PathText(const std::string& path);

// Returns the command as one line that bash would read as the same words; of a very long one only parts are shown.
std::string CommandText(const wire::ListedSession& run);

// Returns the time since a moment in milliseconds since the epoch, such as "5m 3s".
std::string AgeText(int64_t since_ms, std::chrono::system_clock::time_point now);

// Returns a moment in the local time zone.
std::string MomentText(int64_t ms);

}  // namespace holdfast::cli
