// A StartReportWatch reads the report on the start (command/start_report.h) from the pipe of a wrapper
// (command/command.h), on the loop, and passes on its content.
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

}  // namespace holdfast::process
