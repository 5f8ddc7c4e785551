// The rules for the members of initialize that concern shared sessions.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/result.h"
#include "wire/session_messages.h"

namespace holdfast::exec_server {

// Fails if the members do not fit together.
Result<> CheckSharing(const wire::InitializeParams& params);

// Returns how long a session outlives its last connection; absent: until it is ended.
std::optional<std::chrono::milliseconds> ToTtl(const std::optional<uint64_t>& detached_ttl_ms);

}  // namespace holdfast::exec_server
