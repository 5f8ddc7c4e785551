// What a wrapper (command.h) says on its pipe about the start: a line `started` or `failed STATUS REASON`. One that
// becomes the command itself says `executing`, and has started if the pipe ends then. One that ends without a word has
// died.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/owned_fd.h"
#include "base/result.h"
#include "loop/event_loop.h"

namespace holdfast::process {

class StartReport {
 public:
  using Verdict = std::move_only_function<void(const Result<>&)>;

  // `verdict` is called once, from the loop or from ReadRest, and not before Watch or ReadRest.
  StartReport(loop::EventLoop& loop, std::shared_ptr<const OwnedFd> pipe, Verdict verdict);

  void Watch() { watch_.WatchReadable(); }

  // The wrapper has ended: what it had to say is in the pipe.
  void ReadRest();

 private:
  enum class Progress { kMore, kEnd };

  void OnReadable();
  Progress ReadSome();
  void Decide();

  std::shared_ptr<const OwnedFd> pipe_;
  Verdict verdict_;  // empty once called
  std::string text_;
  loop::FdWatch watch_;
};

}  // namespace holdfast::process
