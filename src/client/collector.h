// The output of a process, put together from its events.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/process_event.h"

namespace holdfast::client {

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

  // Returns what has come so far, or the error by which the process was lost.
  Result<Progress> Take(const std::optional<Exited>& exit) &&;

 private:
  Collected output_;
  bool closed_ = false;
  std::optional<Error> failure_;
};

}  // namespace holdfast::client
