// One output descriptor of a process: reads it in blocks of up to 64 KiB while its owner wants more.
#pragma once

#include <optional>
#include <string_view>

#include "base/owned_fd.h"
#include "loop/event_loop.h"
#include "process/output_log.h"

namespace holdfast::process {

class OutputStream {
 public:
  static constexpr size_t kBlockBytes = 64u << 10;

  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void OnBytes(Stream stream, std::string_view bytes) = 0;
    virtual void OnEndOfStream() = 0;
    // While false nothing is read; the owner calls Resume() when it changes.
    virtual bool WantsOutput() const = 0;
  };

  OutputStream(loop::EventLoop& loop, OwnedFd fd, Stream stream, Owner& owner);

  bool at_end() const { return at_end_; }

  // Gives the descriptor back, once at the end.
  void Close();

  // Reads on when there is something, unless it is waiting already.
  void Resume();

  // Reads what is there at this moment, up to `max_bytes`.
  void Drain(size_t max_bytes);

  // The command and its descendants are dead: what is not there at this moment never comes. Somebody else may hold the
  // other end and go on writing; more than a pipe can hold is theirs and is not waited for.
  void EndWhenDry();

 private:
  static constexpr size_t kMaxLateBytes = 2u << 20;  // a pipe holds 1 MiB at most without privileges

  enum class Step { kData, kDry, kEnd };

  void OnReadable();
  Step ReadBlock();
  void ReadToTheEnd();
  void End();

  loop::EventLoop& loop_;
  OwnedFd fd_;  // not closed at the end: the exit comes right behind it and should not wait
  Stream stream_;
  Owner& owner_;
  bool waiting_ = false, at_end_ = false;
  bool end_when_dry_ = false;
  size_t late_bytes_ = 0;
  std::optional<loop::FdWatch> watch_;  // from the first Resume on
};

}  // namespace holdfast::process
