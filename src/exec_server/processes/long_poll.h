// Answers a request once a process has got somewhere, or when time is up. Nothing is missed in between: the check and
// the registration happen in one turn of the loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "exec_server/processes/managed_process.h"

namespace holdfast::exec_server {

enum class PollEnd { kReady, kTimedOut };

// `ready` is asked at once and at every event of the process; `answer` runs exactly once, unless the client disconnects
// first. Without a timeout it waits for as long as it takes.
void PollProcess(loop::EventLoop& loop, std::shared_ptr<ManagedProcess> process, std::optional<uint64_t> timeout_ms,
                 std::move_only_function<bool(ManagedProcess&)> ready,
                 std::move_only_function<void(ManagedProcess&, PollEnd)> answer);

}  // namespace holdfast::exec_server
