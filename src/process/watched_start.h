// A WatchedStart is a way to start the command of a Process (process.h). It makes the watch over the command.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "process/command_watch.h"
#include "process/life.h"
#include "process/stdio.h"

namespace holdfast::process {

struct WatchedStart {
  // Starts the command, or begins to prepare its start. The function moves out of `stdio` what it needs later: the
  // command's ends are closed when it has returned. An error means that nothing was started.
  std::move_only_function<Result<std::unique_ptr<CommandWatch>>(Stdio& stdio, CommandObserver& observer)> begin;
  Life::StartedBy started_by = Life::StartedBy::kReport;
  std::string program = {}, cwd = {};  // for the message of a failed start
};

}  // namespace holdfast::process
