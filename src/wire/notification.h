// The notifications of a process. Output is the hot path: the envelope is written around the base64 in one pass,
// without going through Fields(); a test compares it with the plain encoder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "wire/process_messages.h"

namespace holdfast::wire {

// `quoted_id` is the process id as a JSON string, quotes included: the same for every message of a process.
std::string OutputNotification(std::string_view quoted_id, uint64_t seq, Stream stream, std::string_view bytes);
std::string ExitedNotification(std::string_view quoted_id, uint64_t seq, int exit_code);
std::string ClosedNotification(std::string_view quoted_id, uint64_t seq);
std::string StartedNotification(std::string_view quoted_id, int64_t pid);
std::string FailedNotification(std::string_view quoted_id, std::string_view message);

}  // namespace holdfast::wire
