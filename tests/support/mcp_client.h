// A client of the MCP server for tests: the program `holdfast mcp-server` as a child, and the conversation with it. It
// blocks and has no thread.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/channel.h"
#include "support/message.h"
#include "support/server_process.h"
#include "support/test_socket.h"

namespace holdfast::support {

struct McpOptions {
  std::vector<std::string> flags = {};
  std::vector<std::string> env = {};  // NAME=value
  std::string capabilities = R"({"elicitation":{}})";
  std::optional<uid_t> user = {};  // the user that it runs as; only a test that runs as root may set it
};

// Time limits of a call, in the order in which tests try them: the first one is enough unless the machine is busy.
constexpr std::array<std::chrono::milliseconds, 3> kTimeLimits = {
    std::chrono::milliseconds(1500), std::chrono::milliseconds(6000), std::chrono::milliseconds(24000)};

// Returns the argument of a call that sets its time limit, for `more`.
std::string WithTimeLimit(std::chrono::milliseconds limit);

class McpClient {
 public:
  // Starts a server and does the handshake.
  explicit McpClient(const McpOptions& options = {});

  // Sends a request or a notification, and returns the id of the request.
  int64_t Send(std::string_view method, std::string_view params = "{}");
  void Notify(std::string_view method, std::string_view params);
  void SendLine(std::string_view line);

  // Sends a call of the tool. `more` are further arguments, each with a comma in front.
  int64_t SendShell(std::string_view script, std::string_view more = "", std::string_view meta = "{}");
  // Answers a question of the server.
  void Answer(const Message& question, std::string_view action);

  // Returns the next message. None at all fails the test.
  Message Receive(std::chrono::milliseconds timeout = kPatience);
  // Returns whether no message comes in this time.
  bool IsSilentFor(std::chrono::milliseconds time) { return !channel_->Receive(time); }
  // Returns the answer to a request, which must be the next message.
  Message Call(std::string_view method, std::string_view params = "{}");
  // Returns what the result of a call contains, which must be the next message.
  Message ReceiveShell(int64_t id);
  Message Shell(std::string_view script, std::string_view more = "") { return ReceiveShell(SendShell(script, more)); }
  // Returns the result of a script that has printed something when its time limit ends it. On a busy machine a script
  // may come to its first line late, so longer limits are tried after a short one.
  Message ShellUntilTimeLimit(std::string_view script);

  // Sets the sandbox of the calls that follow, by the JSON of a policy.
  void SetSandbox(std::string_view policy, std::string_view cwd);

  ServerProcess& server() { return server_; }
  const std::string& workdir() const { return workdir_; }
  void set_workdir(std::string path) { workdir_ = std::move(path); }

 private:
  ServerProcess server_;
  std::unique_ptr<Channel> channel_;
  std::string workdir_ = "/";
  int64_t last_id_ = 0;
};

}  // namespace holdfast::support
