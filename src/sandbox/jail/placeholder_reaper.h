// The reaper is a process of its own that removes the placeholders of commands that have ended, also when the helper or
// the launcher is killed. It holds the pidfd of pid 1 of each command: a placeholder is removed only when no process of
// the command is alive, because the command could otherwise put files in its place.
//
// What it does not stop: placeholders stay behind when the reaper is killed too. The next sandbox that needs them
// removes them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"
#include "sandbox/plan/plan.h"

namespace holdfast::sandbox {

// A message to the reaper, in one packet of a SOCK_SEQPACKET socket.
struct ReaperMessage {
  enum class Kind : uint32_t {
    kProcess,  // carries the pidfd of pid 1, and may carry the control socket, on which the reaper tells the end then
    kUsed,     // carries the descriptors that hold the locks of the placeholders in `used`
    kEnded,    // no process of the command but pid 1 is alive
    kRemoved,  // the sender has removed the placeholders itself
  };
  struct Used {
    uint32_t index = 0;  // in the list of wanted placeholders
    uint32_t is_made = 0;
  };
  static constexpr size_t kMostUsed = 16;

  Kind kind;
  uint32_t command = 0;     // the number of the command
  int32_t wait_status = 0;  // of the command, when it has ended
  uint32_t used_count = 0;
  std::array<Used, kMostUsed> used = {};

  std::string_view bytes() const { return {reinterpret_cast<const char*>(this), sizeof *this}; }
};

// The reaper does one of these when all copies of its socket are closed: with kKill it kills the commands that still
// run, with kAwait it waits for their end.
enum class AtEndOfSocket { kKill, kAwait };

// Starts a reaper for commands that want these placeholders, before any of them is made. `socket` is the reaper's end.
Result<> StartReaper(const std::vector<Placeholder>& wanted, OwnedFd socket, AtEndOfSocket at_end);

// A command as its reaper knows it.
struct ReapedCommand {
  int reaper = -1;      // the socket to the reaper; -1 in a process that tells no reaper anything
  uint32_t number = 0;  // among all commands of this reaper
  int control = -1;     // the control socket on which the reaper tells the end of the command; -1 if it does not
};

// Tells the reaper, in pid 1, that all other processes of the command have ended. The reaper then tells the server.
// Returns false if there is no reaper, or no longer one.
bool TellEnded(const ReapedCommand& command, int wait_status);

}  // namespace holdfast::sandbox
