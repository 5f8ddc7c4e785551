// Params and result of process/wait.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "wire/process_end_messages.h"

namespace holdfast::wire {

struct ProcessWaitParams {
  std::string process_id;
  std::optional<uint64_t> timeout_ms;

  void Fields(auto& f) {
    f.Required("processId", process_id);
    f.Optional("timeoutMs", timeout_ms);
  }
};

struct ProcessWaitResult {
  bool exited = false, closed = false, timed_out = false, sandbox_denied = false;
  std::optional<int64_t> exit_code;
  std::optional<ProcessEnd> end;

  void Fields(auto& f) {
    f.Required("exited", exited);
    f.Nullable("exitCode", exit_code);
    f.Required("closed", closed);
    f.Required("timedOut", timed_out);
    f.Required("sandboxDenied", sandbox_denied);
    f.Optional("end", end);
  }
};

}  // namespace holdfast::wire
