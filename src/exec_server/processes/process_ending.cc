#include "exec_server/processes/process_ending.h"

namespace holdfast::exec_server {

ProcessEnding::ProcessEnding(loop::EventLoop& loop, process::Process& process, const Limits& limits)
    : process_(process), limits_(limits), wall_timer_(loop, [this] { End(wire::EndCause::kWall, limits_.grace); }) {}

void ProcessEnding::OnStarted() {
  if (limits_.wall) wall_timer_.Start(*limits_.wall);
}

void ProcessEnding::End(wire::EndCause cause, std::chrono::milliseconds grace) {
  if (process_.gone()) return;
  if (!cause_ && !process_.exited_at()) cause_ = cause;
  if (grace.count() == 0) return process_.Kill({});
  process_.Terminate(grace, {});
}

std::optional<wire::ProcessEnd> ProcessEnding::end() const {
  if (!cause_ || !process_.exit_code()) return std::nullopt;
  return wire::ProcessEnd{cause_};
}

}  // namespace holdfast::exec_server
