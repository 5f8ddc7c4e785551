#include "exec_server/startup_check.h"

#include <algorithm>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"

namespace holdfast::exec_server {
namespace {

constexpr ptrdiff_t kMaxWarnings = 20;

void LogUnchecked(std::string_view reason) { LogWarn("sandbox.unchecked", {{"reason", reason}}); }

// Returns whether `text` is at most kMaxWarnings lines of plain text, all of them complete. A check prints nothing
// else.
bool AreWarnings(std::string_view text) {
  const auto is_control = [](char c) { return (c >= 0 && c < ' ' && c != '\n') || c == '\x7f'; };
  return (text.empty() || text.ends_with('\n')) && std::ranges::none_of(text, is_control) &&
         std::ranges::count(text, '\n') <= kMaxWarnings;
}

void LogWarnings(std::string_view text) {
  for (const auto line : std::views::split(text, '\n')) {
    const std::string_view warning(line);
    if (!warning.empty()) LogWarn("sandbox.limited", {{"why", warning}});
  }
}

std::string_view FirstLine(std::string_view text) { return text.substr(0, text.find('\n')); }

}  // namespace

Result<std::unique_ptr<StartupCheck>> StartupCheck::Start(loop::EventLoop& loop, process::Spawner& spawner,
                                                          const process::Command& command) {
  std::unique_ptr<StartupCheck> check(new StartupCheck);
  auto process = process::Process::Start(loop, spawner, command, process::Pipes{}, {}, *check);
  if (!process) {
    LogUnchecked(process.error().message);
    return std::unexpected(std::move(process).error());
  }
  check->process_ = *std::move(process);
  return check;
}

void StartupCheck::OnStartFailed(process::Process&, const Error& error) { LogUnchecked(error.message); }

void StartupCheck::OnClosed(process::Process& process, uint64_t) {
  const process::Snapshot printed = process.log().TakeSnapshot();
  const int status = *process.exit_code();
  if (AreWarnings(printed.out)) {
    LogWarnings(printed.out);
  } else if (status == 0) {
    LogUnchecked(fmt::format("the check printed text that is not a list of warnings: {}", FirstLine(printed.out)));
  }
  if (status != 0) LogUnchecked(fmt::format("the check ended with status {}: {}", status, FirstLine(printed.err)));
}

}  // namespace holdfast::exec_server
