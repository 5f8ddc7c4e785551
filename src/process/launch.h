// The start of a keeper and its command: everything they need while they run on the server's memory, which is why it
// must stay where it is until the keeper has reported or has been reaped.
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"
#include "process/command.h"
#include "process/keeper_protocol.h"
#include "sys/pidfd.h"

namespace holdfast::process {

// The descriptors a command gets as 0, 1 and 2. Borrowed for the call.
struct StdioFds {
  int in, out, err;
};

// The same for every start.
struct LaunchSettings {
  rlimit file_limit;         // of commands; the server's own may be higher
  bool kernel_keeps_status;  // see sys/exit_status.h
};

class Launch {
 public:
  Launch(const Command& command, const Io& io, const LaunchSettings& settings);
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  // Returns as soon as the keeper exists, some 25 us whatever the size of the server. `image` is the keeper program,
  // `control` its end of the packet pair.
  Result<sys::Child> Start(int image, StdioFds stdio, int control);

  // For how long what a killed command leaves behind may clean up before the keeper kills it too.
  std::chrono::milliseconds grace() const { return std::chrono::milliseconds(grace_ms_); }

 private:
  friend struct InChild;

  static constexpr size_t kKeeperStackBytes = 8 * 1024;
  static constexpr size_t kCommandStackBytes = 16 * 1024;

  std::vector<std::string> variables_;  // NAME=VALUE
  Command command_;
  bool terminal_;
  rlimit file_limit_;
  bool kernel_keeps_status_;
  std::vector<const char*> argv_, envp_;
  // What the children read: plain pointers into the above, because a member function might not be inlined.
  const char* program_;
  const char* search_path_;  // null when the program is a path
  const char* cwd_;
  const char* const* argv_data_;
  const char* const* envp_data_;
  int fds_[Wrapper::kFirstFd + Wrapper::kMaxFds] = {};  // by their number in the child
  int fd_count_ = kKeeperImageFd + 1;
  long grace_ms_;
  int keeper_pid_ = 0;
  // Written by the command's process before it has been executed, read by the keeper.
  int start_errno_ = 0;
  StartStep start_step_ = StartStep::kNone;

  alignas(16) char keeper_stack_[kKeeperStackBytes];
  alignas(16) char command_stack_[kCommandStackBytes];
};

}  // namespace holdfast::process
