// The events of a process as a client gets them: always in the order of their numbers, each number once. A number that
// the server no longer has is part of a Lost event, so that no gap stays hidden.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "wire/process_messages.h"

namespace holdfast::client {

struct Output {
  uint64_t seq = 0;
  wire::Stream stream = wire::Stream::kStdout;
  std::string bytes = {};

  friend bool operator==(const Output&, const Output&) = default;
};

// The command has ended. Output of processes that it has left behind may follow.
struct Exited {
  uint64_t seq = 0;
  int64_t exit_code = 0;  // 128 + N after signal N
  bool sandbox_denied = false;
  std::optional<wire::EndCause> end = {};  // why the server has ended the command, if it has, and if this is known

  friend bool operator==(const Exited&, const Exited&) = default;
};

// The last event of a process: it has exited and its output has ended.
struct Closed {
  uint64_t seq = 0;

  friend bool operator==(const Closed&, const Closed&) = default;
};

// The events with these numbers, both included, were dropped by the server before this client could read them.
struct Lost {
  uint64_t from_seq = 0, to_seq = 0;

  friend bool operator==(const Lost&, const Lost&) = default;
};

// The last event of a process that this client cannot follow any further, because its session is lost.
struct Failed {
  Error error = {};

  friend bool operator==(const Failed&, const Failed&) = default;
};

using ProcessEvent = std::variant<Output, Exited, Closed, Lost, Failed>;

// Returns whether no event follows this one.
inline bool IsLast(const ProcessEvent& event) {
  return std::holds_alternative<Closed>(event) || std::holds_alternative<Failed>(event);
}

inline size_t OutputBytes(const ProcessEvent& event) {
  const auto* output = std::get_if<Output>(&event);
  return output != nullptr ? output->bytes.size() : 0;
}

// An EventListener gets the events of a process at once, without a queue. The bytes of an output are valid only
// during the call.
class EventListener {
 public:
  virtual ~EventListener() = default;

  virtual void OnOutput(uint64_t seq, wire::Stream stream, std::string_view bytes) = 0;
  virtual void OnEvent(const ProcessEvent& event) = 0;  // every event but Output
};

// The output of a process, put together from its events.

// All that a process has written, by stream; a terminal has `out` only. If the server had to drop output, `lost` has
// the numbers of the dropped events.
struct Collected {
  std::string out = {}, err = {};
  std::vector<Lost> lost = {};
};

struct Completed {
  Exited exit = {};
  Collected output = {};
};

// The state of a process at the end of a window. Without an exit the process still runs.
struct Progress {
  Collected output = {};
  std::optional<Exited> exit = {};
  bool closed = false;
};

class Collector {
 public:
  void Add(ProcessEvent event);
  bool ended() const { return closed_ || failure_; }

  // Returns what has arrived so far, or the error by which the process was lost.
  Result<Progress> Take(const std::optional<Exited>& exit) &&;

 private:
  Collected output_;
  bool closed_ = false;
  std::optional<Error> failure_;
};

}  // namespace holdfast::client
