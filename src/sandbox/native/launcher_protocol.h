// The protocol between the server and a launcher, over a SOCK_SEQPACKET socket: one LaunchRequest per command, with
// descriptors in the order of LaunchDescriptor. Everything else is said on the command's own control socket, in the
// protocol of a keeper (process/keeper/protocol.h), which pid 1 of the command speaks:
//  - The launcher sends kCloned with the pid of pid 1 and its pidfd; or kStale, and then nothing is started.
//  - pid 1 sends kBegun before it starts the command or reports why it cannot, and always after kCloned. It sends
//    kExited when the command and all other processes inside have ended.
//  - The server sends kSignal and kKill. When the server is gone, the socket ends, and pid 1 ends with everything
//    inside.
// A control socket that ends before kBegun tells that the command was not started, and never will be.
#pragma once

#include <array>
#include <cstdint>

namespace holdfast::sandbox {

// A digest of everything that the template of a launcher depends on: the text of the plan without the working
// directory, and the identity of each file that it binds or covers.
using PlanKey = std::array<unsigned char, 32>;

struct LaunchRequest {
  PlanKey plan_key;
  uint32_t has_terminal = 0;         // the streams are a terminal, which becomes the controlling one
  uint32_t has_exec_supervisor = 0;  // the descriptor for it comes last
};

enum class LaunchDescriptor { kOrders, kStdin, kStdout, kStderr, kControl, kReport, kExecSupervisor };

}  // namespace holdfast::sandbox
