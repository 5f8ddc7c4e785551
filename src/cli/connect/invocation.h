// One run of a command that talks to a server: the loop, the arguments, the way to the server, and the way to tell the
// user what went wrong.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/connect/server_choice.h"
#include "cli/table/arguments.h"
#include "client/exec_server_client.h"
#include "loop/event_loop.h"
#include "loop/task.h"

namespace holdfast::cli {

class Invocation {
 public:
  Invocation(loop::EventLoop& loop, const Arguments& arguments);
  Invocation(const Invocation&) = delete;
  Invocation& operator=(const Invocation&) = delete;

  loop::EventLoop& loop() const { return loop_; }
  const Arguments& arguments() const { return arguments_; }
  const ServerChoice& server() const { return server_; }
  bool wants_json() const { return arguments_.Has("--json"); }

  // Whether a private server that does not run is started. If it is not, Connect fails with kNotFound.
  enum class Starting { kOnDemand, kNever };

  // Connects to the server, and to a shared session if one is named. Calls have no time limit of their own, because a
  // command may read its input as late as it likes. `approver` answers questions about supervised commands.
  loop::Task<Result<client::ExecServerClient>> Connect(Starting starting,
                                                       std::optional<client::SharedSession> session = {},
                                                       client::Approver approver = {});

  // Closes the connections that were made, and waits for their end.
  loop::Task<> CloseConnections();

  // Prints `holdfast COMMAND: message` as one line to standard error, as PrintComplaint does, and returns `status`.
  int Complain(std::string_view message, int status = 1) const;
  int Complain(const Error& error, int status = 1) const { return Complain(error.message, status); }

 private:
  Result<> PreparePrivateServer(Starting starting) const;
  void WarnOfReadableToken(const client::ConnectOptions& options);
  void OnConnectivity(client::Connectivity connectivity);

  loop::EventLoop& loop_;
  const Arguments& arguments_;
  const ServerChoice server_;
  std::vector<std::shared_ptr<client::Session>> sessions_;
  bool has_warned_ = false;
  // A connection that is back at once is not worth a word.
  bool has_reported_loss_ = false;
  loop::Timer loss_timer_;
};

using RemoteFunction = loop::Task<int> (*)(Invocation& invocation);

// Runs a command on a loop of its own, and returns its exit status.
int RunRemote(const Arguments& arguments, RemoteFunction function);

// Returns the run function of a row.
inline auto Remotely(RemoteFunction function) {
  return [function](const Arguments& arguments) { return RunRemote(arguments, function); };
}

// Writes all of the text to standard output. An error is ignored: a reader that has closed the pipe does not want it.
void Print(std::string_view text);

// Prints a JSON text of one line. Its strings may contain words of the server, which cannot command a terminal this
// way.
void PrintJson(std::string_view json);

}  // namespace holdfast::cli
