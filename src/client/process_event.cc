#include "client/process_event.h"

#include <utility>
#include <variant>

namespace holdfast::client {

// The exit is not collected, because an earlier collector may have had it.
void Collector::Add(ProcessEvent event) {
  if (auto* output = std::get_if<Output>(&event)) {
    (output->stream == wire::Stream::kStderr ? output_.err : output_.out) += output->bytes;
  } else if (const auto* lost = std::get_if<Lost>(&event)) {
    output_.lost.push_back(*lost);
  } else if (auto* failed = std::get_if<Failed>(&event)) {
    failure_ = std::move(failed->error);
  } else if (std::holds_alternative<Closed>(event)) {
    closed_ = true;
  }
}

Result<Progress> Collector::Take(const std::optional<Exited>& exit) && {
  if (failure_) return std::unexpected(*std::move(failure_));
  return Progress{.output = std::move(output_), .exit = exit, .closed = closed_};
}

}  // namespace holdfast::client
