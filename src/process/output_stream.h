// An OutputStream reads one output descriptor of a process, in blocks of up to 64 KiB, while its owner wants output.
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
    // While this returns false nothing is read. The owner calls Resume() when it changes.
    virtual bool WantsOutput() const = 0;
  };

  OutputStream(loop::EventLoop& loop, OwnedFd fd, Stream stream, Owner& owner);

  bool at_end() const { return at_end_; }

  // Closes the descriptor after the end of the stream.
  void Close();

  // Continues to read when there is output, unless the stream waits for output already.
  void Resume();

  // Reads the output that is there at this moment, up to `max_bytes`.
  void Drain(size_t max_bytes);

  // Lets the stream end with the output that is there at this moment, because the command and its descendants are dead.
  // Another process may hold the other end and go on writing, so the stream reads no more than a pipe can hold.
  void EndWhenDry();

 private:
  static constexpr size_t kMaxLateBytes = 2u << 20;  // a pipe holds 1 MiB at most without privileges

  enum class Step { kData, kDry, kEnd };

  void OnReadable();
  Step ReadBlock();
  void ReadToTheEnd();
  void End();

  loop::EventLoop& loop_;
  // The descriptor is not closed at the end of the stream, because the exit follows at once and closing would delay it.
  OwnedFd fd_;
  Stream stream_;
  Owner& owner_;
  bool waiting_ = false, at_end_ = false;
  bool end_when_dry_ = false;
  size_t late_bytes_ = 0;
  std::optional<loop::FdWatch> watch_;  // present from the first Resume on
};

}  // namespace holdfast::process
