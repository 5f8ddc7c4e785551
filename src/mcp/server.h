// The MCP server: one conversation with one client. It does the handshake, answers requests, and owns the calls that
// are under way. When the conversation ends, or Shutdown is called, every call is killed.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "loop/byte_budget.h"
#include "loop/event_loop.h"
#include "mcp/elicitation.h"
#include "mcp/interceptor.h"
#include "mcp/messages/methods.h"
#include "mcp/sandbox_state.h"
#include "mcp/shell_call.h"
#include "process/command/environment.h"
#include "rpc/method_table.h"
#include "rpc/peer.h"
#include "rpc/peer_host.h"
#include "rpc/transport.h"
#include "wire/json.h"

namespace holdfast::mcp {

// The objects that a server uses. They outlive it.
struct ServerContext {
  loop::EventLoop& loop;
  StartInSandbox start;
  Interceptor& interceptor;
};

struct ServerSettings {
  std::string shell;  // absolute
  process::Environment environment;
  SandboxState sandbox;
};

class Server final : public rpc::PeerHost {
 public:
  // The calls that may run at the same time. A further call is refused.
  static constexpr size_t kMaxCalls = 64;
  // The longest message that is read. The transport delivers an empty message in the place of a longer one.
  static constexpr size_t kMaxMessageBytes = 4u << 20;

  // `on_end` is called once, when the conversation has ended and nothing that it has started is alive. It must not
  // destroy the server.
  Server(const ServerContext& context, ServerSettings settings, std::shared_ptr<rpc::Transport> transport,
         loop::Callback on_end);

  void Start() { peer_->Start(); }
  // Kills every call and ends the conversation. Calls under way are not answered.
  void Shutdown();

 private:
  using Methods = rpc::MethodTable<Server>;
  static const Methods& BeforeInitialize();
  static const Methods& AfterInitialize();

  bool OnRawMessage(std::string_view message) override;
  void OnRequest(const rpc::Request& request, rpc::PendingReply reply) override;
  void OnNotification(const rpc::Notification& notification) override;
  void OnUnreadable(const Error& error) override { peer_->Refuse(error); }
  void OnStrayResponse(const rpc::Response& response) override;
  void OnCallForgotten(int64_t id) override;
  void OnClosed() override;

  void Initialize(const InitializeParams& params, rpc::Reply<InitializeResult> reply);
  void Ping(const NoParams& params, rpc::Reply<wire::Empty> reply);
  void ListTools(const NoParams& params, rpc::Reply<ListToolsResult> reply);
  void ListResources(const NoParams& params, rpc::Reply<ResourcesResult> reply);
  void ListPrompts(const NoParams& params, rpc::Reply<PromptsResult> reply);
  void CallTool(const CallToolParams& params, rpc::Reply<CallToolResult> reply);
  void UpdateSandboxState(const SandboxStateParams& params, rpc::Reply<wire::Empty> reply);

  Result<> CheckCall(const CallToolParams& params, const rpc::RequestId& id) const;
  ShellCall* FindCall(const rpc::RequestId& id) const;
  void OnCallEnd(ShellCall& call);
  void EndWhenEmpty();

  const ServerContext context_;
  ServerSettings settings_;
  loop::Callback on_end_;
  loop::ByteBudget held_;
  wire::Document document_;
  const std::shared_ptr<rpc::Peer> peer_;
  Elicitation elicitation_ = Elicitation::kUnsupported;
  bool initialized_ = false, stopping_ = false, closed_ = false;
  std::vector<std::unique_ptr<ShellCall>> calls_;  // also those that are cancelled and not dead yet
};

}  // namespace holdfast::mcp
