#include "client/exec_events.h"

#include <algorithm>
#include <utility>

namespace holdfast::client {

// The tail is cut only when it has twice its size, so that each byte is moved once on the average.
void Transcript::Append(std::string_view bytes) {
  const size_t half = capacity_ / 2;
  const size_t to_head = std::min(bytes.size(), half - head_.size());
  head_ += bytes.substr(0, to_head);
  tail_ += bytes.substr(to_head);
  if (tail_.size() >= 2 * (capacity_ - half)) Cut();
}

void Transcript::Cut() {
  const size_t kept = capacity_ - capacity_ / 2;
  if (tail_.size() <= kept) return;
  omitted_ += tail_.size() - kept;
  tail_.erase(0, tail_.size() - kept);
}

std::string Transcript::Take() {
  Cut();
  return std::move(head_) + tail_;
}

ExecEvents::ExecEvents(ExecCommandBegin begin, Sink sink, Clock::time_point now, size_t transcript_bytes)
    : process_id_(begin.process_id),
      sink_(std::move(sink)),
      began_(now),
      out_(transcript_bytes),
      err_(transcript_bytes),
      aggregated_(transcript_bytes) {
  sink_(std::move(begin));
}

void ExecEvents::OnInput(std::string_view bytes) {
  sink_(TerminalInteraction{.process_id = process_id_, .input = std::string(bytes)});
}

void ExecEvents::OnEvent(const ProcessEvent& event, Clock::time_point now) {
  if (ended_) return;
  if (const auto* output = std::get_if<Output>(&event)) return OnOutput(*output);
  if (const auto* lost = std::get_if<Lost>(&event)) return lost_.push_back(*lost);
  if (const auto* exited = std::get_if<Exited>(&event)) exit_ = *exited;
  if (const auto* failed = std::get_if<Failed>(&event)) return End(now, failed->error.message);
  if (std::holds_alternative<Closed>(event)) End(now, "");
}

void ExecEvents::OnOutput(const Output& output) {
  (output.stream == wire::Stream::kStderr ? err_ : out_).Append(output.bytes);
  aggregated_.Append(output.bytes);
  sink_(ExecCommandOutputDelta{.process_id = process_id_, .stream = output.stream, .chunk = output.bytes});
}

void ExecEvents::End(Clock::time_point now, std::string failure) {
  ended_ = true;
  ExecCommandEnd end{.process_id = process_id_};
  if (exit_) {
    end.exit_code = exit_->exit_code;
    end.sandbox_denied = exit_->sandbox_denied;
  }
  end.out = out_.Take();
  end.err = err_.Take();
  end.aggregated = aggregated_.Take();
  end.omitted_bytes = aggregated_.omitted_bytes();
  end.lost = std::move(lost_);
  end.duration = std::chrono::duration_cast<std::chrono::milliseconds>(now - began_);
  end.failure = std::move(failure);
  sink_(std::move(end));
}

}  // namespace holdfast::client
