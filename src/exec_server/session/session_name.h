// The rules for the members of initialize that concern shared sessions.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "wire/session_messages.h"

namespace holdfast::exec_server {

// A name has 1 to 64 characters of A-Z, a-z, 0-9, dot, underscore and hyphen, and is not `.` or `..`, so that it can
// be written in a shell and be a file name.
bool IsSessionName(std::string_view name);

// Fails if the members do not fit together.
Result<> CheckSharing(const wire::InitializeParams& params);

std::optional<std::chrono::milliseconds> ToTtl(const std::optional<uint64_t>& detached_ttl_ms);

}  // namespace holdfast::exec_server
