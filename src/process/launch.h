// The start of a keeper and its command: everything they need while they run on the server's memory, which is why it
// must stay where it is for as long as it is in use.
#pragma once

#include <sys/resource.h>
#include <sys/socket.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"
#include "process/command/command.h"
#include "process/keeper/protocol.h"
#include "process/start_slots.h"
#include "sys/argv.h"
#include "sys/pidfd.h"

namespace holdfast::process {

// The descriptors a command gets as 0, 1 and 2. Borrowed for the call.
struct StdioFds {
  int in, out, err;
};

// What a start is connected to. Borrowed for the call.
struct LaunchFds {
  int image;  // the keeper program
  StdioFds stdio;
  int control, keeper_control;  // the server's and the keeper's end of the packet pair
  int start;                    // the write end of a pipe: a failure, or its end when the command has been executed
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

  // Returns as soon as the keeper exists, some 25 us whatever the size of the server and of its table of descriptors.
  Result<sys::Child> Start(StartSlots& slots, const LaunchFds& fds);

  // Whether the keeper or the command's process may still run on the server's memory: the kernel says when they do not.
  bool IsInUse() const;

  // Known when the pipe has told of the start; 0 when there was none.
  pid_t command_pid() const { return __atomic_load_n(&command_pid_, __ATOMIC_ACQUIRE); }

  // The keeper has its own copy of the control socket: only then does the server hear of the keeper's end.
  void FreeSlot() { slot_.Free(); }

  // For how long what a killed command leaves behind may clean up before the keeper kills it too.
  std::chrono::milliseconds grace() const { return std::chrono::milliseconds(grace_ms_); }

 private:
  friend struct InChild;

  static constexpr size_t kMaxPassed = 5 + Wrapper::kMaxFds;
  Result<> Pass(const LaunchFds& fds);

  static constexpr size_t kKeeperStackBytes = 8 * 1024;
  static constexpr size_t kCommandStackBytes = 16 * 1024;

  std::vector<std::string> variables_;  // NAME=VALUE
  Command command_;
  bool terminal_;
  rlimit file_limit_;
  bool kernel_keeps_status_;
  sys::Argv argv_, envp_;
  // What the children read: plain pointers into the above, because a member function might not be inlined.
  const char* program_;
  const char* search_path_;  // null when the program is a path
  const char* cwd_;
  const char* const* argv_data_;
  const char* const* envp_data_;
  long grace_ms_;
  StartSlot slot_;
  int control_ = -1;              // the keeper's end, by its number in the table that the keeper starts on
  int targets_[kMaxPassed] = {};  // of the passed descriptors, in their order
  int passed_count_ = 0, wrapper_fd_count_ = 0;
  char message_byte_ = 0;
  iovec message_piece_ = {};
  msghdr message_ = {};
  alignas(cmsghdr) char message_space_[CMSG_SPACE(kMaxPassed * sizeof(int))] = {};
  int keeper_pid_ = 0;
  int keeper_is_ready_ = 0;  // a futex
  // Written by the kernel.
  int command_pid_ = 0;
  int keeper_on_memory_ = 0, command_on_memory_ = 0;

  alignas(16) char keeper_stack_[kKeeperStackBytes];
  alignas(16) char command_stack_[kCommandStackBytes];
};

}  // namespace holdfast::process
