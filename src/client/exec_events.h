// An ExecEvents adapter turns the events of one process into those that an agent shows to its model: a command begins,
// writes output, is typed to, and ends with the whole of its output. It does no I/O: the caller reports what happens.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "client/process_event.h"

namespace holdfast::client {

struct ExecCommandBegin {
  std::string process_id = {};
  std::vector<std::string> command = {};
  std::string cwd = {};
};

struct ExecCommandOutputDelta {
  std::string process_id = {};
  wire::Stream stream = wire::Stream::kStdout;
  std::string chunk = {};
};

struct TerminalInteraction {
  std::string process_id = {}, input = {};
};

// The end of a command. Of a long output, the beginning and the end are kept; `omitted_bytes` counts
// those of `aggregated` that are missing between them.
struct ExecCommandEnd {
  std::string process_id = {};
  std::optional<int64_t> exit_code = {};  // nothing if the session was lost
  bool sandbox_denied = false;
  std::string out = {}, err = {}, aggregated = {};
  uint64_t omitted_bytes = 0;
  std::vector<Lost> lost = {};
  std::chrono::milliseconds duration{0};
  std::string failure = {};  // why there is no exit code
};

using ExecEvent = std::variant<ExecCommandBegin, ExecCommandOutputDelta, TerminalInteraction, ExecCommandEnd>;

// The beginning and the end of a text, at most `capacity` bytes of it.
class Transcript {
 public:
  explicit Transcript(size_t capacity) : capacity_(capacity) {}
  void Append(std::string_view bytes);
  // Returns the kept bytes and ends the transcript.
  std::string Take();
  uint64_t omitted_bytes() const { return omitted_; }  // after Take

 private:
  void Cut();

  size_t capacity_;
  std::string head_, tail_;
  uint64_t omitted_ = 0;
};

class ExecEvents {
 public:
  using Clock = std::chrono::steady_clock;
  using Sink = std::function<void(ExecEvent)>;

  // `begin` is sent at once: the process has been started. At most `transcript_bytes` of each stream are kept.
  ExecEvents(ExecCommandBegin begin, Sink sink, Clock::time_point now, size_t transcript_bytes = 1 << 20);

  void OnInput(std::string_view bytes);  // the caller has written to the process
  // The exit is reported when the process is closed, so that the transcript is complete.
  void OnEvent(const ProcessEvent& event, Clock::time_point now);

 private:
  void OnOutput(const Output& output);
  void End(Clock::time_point now, std::string failure);

  const std::string process_id_;
  Sink sink_;
  const Clock::time_point began_;
  Transcript out_, err_, aggregated_;
  std::optional<Exited> exit_;
  std::vector<Lost> lost_;
  bool ended_ = false;
};

}  // namespace holdfast::client
