// The watch over the pipe of a wrapper (command/command.h), on the loop: reads the report on the start
// (command/start_report.h) and hands on what it says.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/owned_fd.h"
#include "base/result.h"
#include "loop/event_loop.h"
#include "process/command/start_report.h"

namespace holdfast::process {

class StartReportWatch {
 public:
  using Verdict = std::move_only_function<void(const Result<>&)>;

  // `verdict` is called once, from the loop or from ReadRest, and not before Watch or ReadRest.
  StartReportWatch(loop::EventLoop& loop, std::shared_ptr<const OwnedFd> pipe, Verdict verdict);

  void Watch() { watch_.WatchReadable(); }

  // The wrapper has ended: all that it wrote is in the pipe.
  void ReadRest();

 private:
  void OnReadable();
  ReportProgress ReadSome();
  void Decide();

  std::shared_ptr<const OwnedFd> pipe_;
  Verdict verdict_;  // empty once called
  std::string text_;
  loop::FdWatch watch_;
};

}  // namespace holdfast::process
