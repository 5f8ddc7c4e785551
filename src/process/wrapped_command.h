// A WrappedCommand is a keeper whose command is a wrapper (command/command.h), together with the wrapper's report on
// the start. It passes the calls of the keeper on to its observer, and adds the report to them.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/owned_fd.h"
#include "base/result.h"
#include "loop/event_loop.h"
#include "process/command/command.h"
#include "process/command/start_report.h"
#include "process/command_watch.h"
#include "process/keeper.h"
#include "process/spawner.h"

namespace holdfast::process {

// A StartReportWatch reads the report on the start (command/start_report.h) from the pipe of a wrapper, on the loop,
// and passes on its content.
class StartReportWatch {
 public:
  using OnReport = std::move_only_function<void(const Result<Enforcement>&)>;

  // `on_report` is called once, from the loop or from ReadRest, and never before Watch or ReadRest.
  StartReportWatch(loop::EventLoop& loop, std::shared_ptr<const OwnedFd> pipe, OnReport on_report);

  void Watch() { watch_.WatchReadable(); }

  // Reads the rest of the report. Called when the wrapper has ended, so that everything it wrote is in the pipe.
  void ReadRest();

 private:
  void OnReadable();
  ReportProgress ReadSome();
  void Finish();

  std::shared_ptr<const OwnedFd> pipe_;
  OnReport on_report_;  // empty once called
  std::string text_;
  loop::FdWatch watch_;
};

class WrappedCommand final : public CommandWatch, private CommandObserver {
 public:
  WrappedCommand(loop::EventLoop& loop, Spawner& spawner, StartedKeeper started, const Wrapper& wrapper,
                 CommandObserver& observer);

  void Signal(int signal) override { keeper_.Signal(signal); }
  void KillAll() override { keeper_.KillAll(); }

 private:
  void OnStarted(pid_t pid) override;
  void OnStartFailed(StartStep step, int errno_value) override { observer_.OnStartFailed(step, errno_value); }
  void OnExited(int wait_status) override;
  void OnGone() override { observer_.OnGone(); }

  CommandObserver& observer_;
  StartReportWatch report_;
  Keeper keeper_;
};

// Starts a command, wrapped or not, under a keeper. The descriptors are borrowed for the call. An error means that
// nothing was started.
Result<std::unique_ptr<CommandWatch>> StartUnderKeeper(loop::EventLoop& loop, Spawner& spawner, const Command& command,
                                                       const Io& io, StdioFds stdio, CommandObserver& observer);

}  // namespace holdfast::process
