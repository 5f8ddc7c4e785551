// Params of the notifications about a process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "wire/process_end_messages.h"
#include "wire/process_messages.h"

namespace holdfast::wire {

struct ProcessOutputParams {
  std::string process_id;
  uint64_t seq = 0;
  Stream stream = Stream::kStdout;
  Bytes chunk;

  void Fields(auto& f) {
    f.Required("processId", process_id);
    f.Required("seq", seq);
    f.Required("stream", stream);
    f.Required("chunk", chunk);
  }
};

struct ProcessExitedParams {
  std::string process_id;
  uint64_t seq = 0;
  int64_t exit_code = 0;
  bool sandbox_denied = false;
  std::optional<ProcessEnd> end = {};

  void Fields(auto& f) {
    f.Required("processId", process_id);
    f.Required("seq", seq);
    f.Required("exitCode", exit_code);
    f.Optional("sandboxDenied", sandbox_denied);
    f.Optional("end", end);
  }
};

struct ProcessClosedParams {
  std::string process_id;
  uint64_t seq = 0;

  void Fields(auto& f) {
    f.Required("processId", process_id);
    f.Required("seq", seq);
  }
};

struct ProcessStartedParams {
  std::string process_id;
  int64_t pid = 0;

  void Fields(auto& f) {
    f.Required("processId", process_id);
    f.Required("pid", pid);
  }
};

struct ProcessFailedParams {
  std::string process_id, message;

  void Fields(auto& f) {
    f.Required("processId", process_id);
    f.Required("message", message);
  }
};

}  // namespace holdfast::wire
