#include "support/mcp_client.h"

#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace holdfast::support {
namespace {

ServerProcess Launch(const McpOptions& options) {
  std::vector<std::string> arguments = {"mcp-server"};
  arguments.insert(arguments.end(), options.flags.begin(), options.flags.end());
  // Rules of the user who runs the tests must not matter.
  std::vector<std::string> env = {RunMarker(), "HOME=/nonexistent", "CODEX_HOME=/nonexistent",
                                  "XDG_CONFIG_HOME=/nonexistent"};
  env.insert(env.end(), options.env.begin(), options.env.end());
  return ServerProcess::Launch(arguments, env, options.user);
}

}  // namespace

McpClient::McpClient(const McpOptions& options)
    : server_(Launch(options)), channel_(OpenPipes(server_.input(), server_.output())) {
  const Message hello =
      Call("initialize", fmt::format(R"({{"protocolVersion":"2025-06-18","capabilities":{}}})", options.capabilities));
  EXPECT_TRUE(hello.Has("result")) << hello << server_.Stderr();
  Notify("notifications/initialized", "{}");
}

int64_t McpClient::Send(std::string_view method, std::string_view params) {
  SendLine(fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{}}})", ++last_id_, method, params));
  return last_id_;
}

void McpClient::Notify(std::string_view method, std::string_view params) {
  SendLine(fmt::format(R"({{"jsonrpc":"2.0","method":"{}","params":{}}})", method, params));
}

std::string WithTimeLimit(std::chrono::milliseconds limit) { return fmt::format(R"(,"timeout_ms":{})", limit.count()); }

void McpClient::SendLine(std::string_view line) {
  EXPECT_TRUE(channel_->Send(line)) << "the server is gone: " << server_.Stderr();
}

int64_t McpClient::SendShell(std::string_view script, std::string_view more, std::string_view meta) {
  return Send("tools/call",
              fmt::format(R"({{"name":"shell","arguments":{{"command":{},"workdir":{},"login":false{}}},"_meta":{}}})",
                          Quoted(script), Quoted(workdir_), more, meta));
}

void McpClient::Answer(const Message& question, std::string_view action) {
  EXPECT_EQ(question.Text("method"), "elicitation/create") << question;
  SendLine(fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{{"action":"{}","content":{{}}}}}})",
                       question.Number("id"), action));
}

Message McpClient::Receive(std::chrono::milliseconds timeout) {
  auto text = channel_->Receive(timeout);
  if (text) return Message(*std::move(text));
  ADD_FAILURE() << "no message comes: " << server_.Stderr();
  return {};
}

Message McpClient::Call(std::string_view method, std::string_view params) {
  const int64_t id = Send(method, params);
  Message answer = Receive();
  EXPECT_EQ(answer.Number("id"), id) << answer;
  return answer;
}

Message McpClient::ReceiveShell(int64_t id) {
  const Message answer = Receive();
  EXPECT_TRUE(answer.Has("result")) << answer;
  if (!answer.Has("result")) return {};
  EXPECT_EQ(answer.Number("id"), id) << answer;
  return Message(answer.Text("result.content.0.text"));
}

Message McpClient::ShellUntilTimeLimit(std::string_view script) {
  Message result;
  for (const auto limit : kTimeLimits) {
    result = Shell(script, WithTimeLimit(limit));
    if (!result.Text("output").empty()) break;
  }
  return result;
}

void McpClient::SetSandbox(std::string_view policy, std::string_view cwd) {
  const Message answer =
      Call("codex/sandbox-state/update", fmt::format(R"({{"sandboxPolicy":{},"sandboxCwd":{}}})", policy, Quoted(cwd)));
  EXPECT_TRUE(answer.Has("result")) << answer;
}

}  // namespace holdfast::support
