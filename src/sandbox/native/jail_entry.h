// A JailEntry is one request to a jail (jail_process.h): what is to run in a sandbox of its own. It travels
// over a SOCK_SEQPACKET socket as a message of one byte with descriptors in the order of EntryFd, the first of which is
// a memory file with the entry. Everything else is said on the command's own control socket, in the protocol of a
// keeper (process/keeper/protocol.h), which pid 1 of the command speaks:
//  - The jail sends kCloned with the pid of pid 1 and its pidfd.
//  - pid 1 sends kBegun before it starts the command or says why it cannot, and always after kCloned; then kStarted or
//    kNotStarted. It sends kExited when the command and all other processes inside have ended.
//  - The server sends kSignal and kKill. When the server is gone, the socket ends, and pid 1 ends with everything
//    inside.
// A control socket that ends before kBegun means that the command was not started, and never will be.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "process/command/command.h"
#include "sandbox/proxy/routes.h"

namespace holdfast::sandbox {

struct RunCommand {
  process::Command command = {};              // a program without a slash is looked up in the PATH of `environment`
  std::vector<std::string> environment = {};  // NAME=VALUE
  bool has_terminal = false;                  // the streams are a terminal, which becomes the controlling one
  bool is_supervised = false;                 // confine/exec_layer.h; EntryFd has the socket of the supervisor
  // The variable that tells the command the number of a descriptor that it inherits; absent: there is none.
  std::optional<std::string> kept_variable = {};
  std::optional<ProxyRoutes> proxies = {};  // the only network of the command; it needs a plan for that

  void Fields(this auto& self, auto& f) {
    f(self.command.program, self.command.argv, self.command.cwd, self.environment, self.has_terminal,
      self.is_supervised, self.kept_variable, self.proxies);
  }
  bool IsValid() const { return !command.argv.empty() && command.cwd.starts_with('/'); }
};

// The file helper (files/helper/helper_main.h) runs, and no program. Its streams are the socket of its requests.
struct ServeFiles {};

struct JailEntry {
  std::variant<RunCommand, ServeFiles> task = {};

  static constexpr std::string_view kRecord = "entry 1\n";
  void Fields(this auto& self, auto& f) { f(self.task); }
};

// The last two are only there for a command that needs them.
enum class EntryFd { kEntry, kStdin, kStdout, kStderr, kControl, kExecSupervisor, kKept };

}  // namespace holdfast::sandbox
