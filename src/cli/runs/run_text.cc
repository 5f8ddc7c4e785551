#include "cli/runs/run_text.h"

#include <algorithm>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/file_uri.h"
#include "base/shown_text.h"
#include "cli/runs/run_session.h"
#include "cli/text/duration.h"

namespace holdfast::cli {

std::string StateText(const wire::ListedSession& run) {
  const wire::ListedProcess* process = MainProcessOf(run);
  if (process == nullptr) return "empty";
  if (process->end && process->end->cause == wire::EndCause::kWall) return "ended at its time limit";
  if (process->signal) return fmt::format("ended by {}", *process->signal);
  if (process->exit_code) return fmt::format("exited with {}", *process->exit_code);
  return process->state == wire::ProcessState::kStarting ? "starting" : "running";
}

std::string RestrictionText(const wire::ListedSession& run) {
  const wire::ListedProcess* process = MainProcessOf(run);
  if (process == nullptr) return {};
  std::string text = "none";
  if (process->sandbox) text = process->sandbox->files + (process->sandbox->network ? "+network" : "");
  if (process->rules) text += "+rules";
  return text;
}

std::string PathText(const std::string& path) { return ParsePath(path).value_or(path); }

std::string DirectoryText(const wire::ListedSession& run) {
  const wire::ListedProcess* process = MainProcessOf(run);
  return process == nullptr || !process->cwd ? std::string() : PathText(*process->cwd);
}

std::string CommandText(const wire::ListedSession& run) {
  const wire::ListedProcess* process = MainProcessOf(run);
  if (process == nullptr) return {};
  return ShownCommand(process->argv);
}

std::string AgeText(int64_t since_ms, std::chrono::system_clock::time_point now) {
  const auto now_ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
  const auto age = now_ms - std::chrono::milliseconds(since_ms);
  return DurationText(std::max(std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::seconds(1)), age));
}

std::string MomentText(int64_t ms) {
  const std::time_t seconds = ms / 1000;
  std::tm local{};
  if (::localtime_r(&seconds, &local) == nullptr) return {};
  return fmt::format("{:%Y-%m-%d %H:%M:%S %z}", local);
}

}  // namespace holdfast::cli
