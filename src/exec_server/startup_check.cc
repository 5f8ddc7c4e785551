#include "exec_server/startup_check.h"

#include <ranges>
#include <string>
#include <string_view>

#include "base/log.h"

namespace holdfast::exec_server {

Result<std::unique_ptr<StartupCheck>> StartupCheck::Start(Runtime& runtime, const process::Command& command) {
  std::unique_ptr<StartupCheck> check(new StartupCheck);
  TRY(check->process_, process::Process::Start(runtime.loop, runtime.spawner, command, process::Pipes{}, {}, *check));
  return check;
}

void StartupCheck::OnClosed(process::Process& process, uint64_t) {
  const std::string text = process.log().TakeSnapshot().out;
  for (const auto line : std::views::split(std::string_view(text), '\n')) {
    const std::string_view warning(line);
    if (!warning.empty()) LogWarn("sandbox.limited", {{"why", warning}});
  }
}

}  // namespace holdfast::exec_server
