// A Launch is the start of a keeper and its command. It holds everything that they need while they run on the server's
// memory, so it must not be moved or destroyed while it is in use.
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

// The descriptors that a command gets as 0, 1 and 2. They are borrowed for the call.
struct StdioFds {
  int in, out, err;
};

// The descriptors of a start. They are borrowed for the call.
struct LaunchFds {
  int image;  // the keeper program
  StdioFds stdio;
  int control, keeper_control;  // the server's and the keeper's end of the packet pair
  // The write end of the start pipe. The server reads a failure from it, or its end when the command has been executed.
  int start;
};

// The settings that are the same for every start.
struct LaunchSettings {
  rlimit file_limit;         // the limit of commands; the server's own is higher
  rlimit helper_file_limit;  // the limit of wrappers that lower it themselves
  bool kernel_keeps_status;  // see sys/exit_status.h
};

class Launch {
 public:
  Launch(const Command& command, const Io& io, const LaunchSettings& settings);
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  // Clones the keeper and returns as soon as it exists. This takes some 25 us, whatever the size of the server and of
  // its descriptor table.
  Result<sys::Child> Start(StartSlots& slots, const LaunchFds& fds);

  // Returns whether the keeper or the command's process may still run on the server's memory. The kernel clears a flag
  // when each of them leaves it.
  bool IsInUse() const;

  // The pid of the command. It is known when the start pipe has ended or has a failure; 0 means that there was no
  // command.
  pid_t command_pid() const { return __atomic_load_n(&command_pid_, __ATOMIC_ACQUIRE); }

  // Frees the slot, whose copy of the control socket hides the keeper's end from the server. The keeper must have its
  // own copy of the socket by then.
  void FreeSlot() { slot_.Free(); }

  // The time that the processes which a killed command leaves behind have for cleaning up, before the keeper kills them
  // too.
  std::chrono::milliseconds grace() const { return std::chrono::milliseconds(grace_ms_); }

 private:
  friend struct InChild;

  static constexpr size_t kMaxPassed = 5 + Wrapper::kMaxFds;
  Result<> Pass(const LaunchFds& fds);

  static constexpr size_t kKeeperStackBytes = 8 * 1024;
  static constexpr size_t kCommandStackBytes = 16 * 1024;

  std::vector<std::string> variables_;  // NAME=VALUE
  Command command_;
  bool terminal_, reports_stops_;
  rlimit file_limit_;
  bool kernel_keeps_status_;
  sys::Argv argv_, envp_;
  // The children read these plain pointers into the members above, because a member function might not be inlined.
  const char* program_;
  const char* search_path_;  // null if the program is a path
  const char* cwd_;
  const char* const* argv_data_;
  const char* const* envp_data_;
  long grace_ms_;
  StartSlot slot_;
  int control_ = -1;  // the keeper's end of the control socket, by its number in the table that the keeper starts with
  int targets_[kMaxPassed] = {};  // the numbers that the passed descriptors get, in their order
  int passed_count_ = 0, wrapper_fd_count_ = 0;
  char message_byte_ = 0;
  iovec message_piece_ = {};
  msghdr message_ = {};
  alignas(cmsghdr) char message_space_[CMSG_SPACE(kMaxPassed * sizeof(int))] = {};
  int keeper_pid_ = 0;
  int keeper_is_ready_ = 0;  // a futex
  // The kernel writes these.
  int command_pid_ = 0;
  int keeper_on_memory_ = 0, command_on_memory_ = 0;

  alignas(16) char keeper_stack_[kKeeperStackBytes];
  alignas(16) char command_stack_[kCommandStackBytes];
};

}  // namespace holdfast::process
