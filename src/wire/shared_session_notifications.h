// The params of the notifications that only clients of shared sessions get, and of session/ended.
#pragma once

#include <cstdint>
#include <string>

#include "wire/encode.h"
#include "wire/shared_session_messages.h"

namespace holdfast::wire {

struct SessionRoleChangedParams {
  std::string session_id;
  SessionRole role = SessionRole::kObserver;

  void Fields(auto& f) {
    f.Required("sessionId", session_id);
    f.Required("role", role);
  }
};

struct SessionEndedParams {
  std::string session_id;

  void Fields(auto& f) { f.Required("sessionId", session_id); }
};

// Tells an observer that the events from `from_seq` to `to_seq` of a process are no longer retained.
struct ProcessOutputLostParams {
  std::string process_id;
  uint64_t from_seq = 0, to_seq = 0;

  void Fields(auto& f) {
    f.Required("processId", process_id);
    f.Required("fromSeq", from_seq);
    f.Required("toSeq", to_seq);
  }
};

}  // namespace holdfast::wire
