#include "mcp/server.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/version.h"
#include "mcp/shell_tool.h"
#include "wire/decode.h"

namespace holdfast::mcp {
namespace {

constexpr std::array<std::string_view, 4> kProtocolVersions = {"2025-11-25", "2025-06-18", "2025-03-26",
                                                               "2024-11-05"};  // newest first

// The first of the two announces the method, the second one the member of `_meta`. Clients send only what is announced.
constexpr char kCapabilities[] =
    R"({"experimental":{"codex/sandbox-state":{"version":"1.0.0"},"codex/sandbox-state-meta":{"version":"1.0.0"}},)"
    R"("tools":{}})";
constexpr char kInstructions[] = "This server provides a tool to execute shell commands and return their output.";

// The limits of the peer never stop it from reading, because kMaxCalls is reached first: a message that cancels a call,
// or answers a question, must be read whatever runs.
constexpr rpc::PeerOptions kPeerOptions{.dialect = rpc::Dialect::kJsonRpc,
                                        .max_inflight = 2 * Server::kMaxCalls,
                                        .max_inflight_bytes = 2 * Server::kMaxCalls * Server::kMaxMessageBytes};

std::string AgreedVersion(const std::string& wanted) {
  const bool known = std::ranges::find(kProtocolVersions, wanted) != kProtocolVersions.end();
  return known ? wanted : std::string(kProtocolVersions.front());
}

std::optional<rpc::RequestId> IdOf(wire::Json json) {
  if (const auto number = json.int64()) return *number;
  if (const auto text = json.string()) return std::string(*text);
  return std::nullopt;
}

// The specification allows a string or an integer.
Result<> CheckProgressToken(const RequestMeta& meta) {
  const std::string_view token = meta.progress_token ? std::string_view(meta.progress_token->text) : "0";
  const std::string_view digits = token.substr(token.starts_with('-') ? 1 : 0);
  const bool is_integer = std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  if (is_integer || token.starts_with('"')) return {};
  return Fail(ErrorKind::kInvalidParams, "progressToken: is neither a string nor an integer");
}

}  // namespace

Server::Server(const ServerContext& context, ServerSettings settings, std::shared_ptr<rpc::Transport> transport,
               loop::Callback on_end)
    : context_(context),
      settings_(std::move(settings)),
      on_end_(std::move(on_end)),
      held_(context.loop, {.bytes = kPeerOptions.max_inflight_bytes}),
      peer_(std::make_shared<rpc::Peer>(rpc::PeerContext{context.loop, held_, document_}, kPeerOptions,
                                        std::move(transport), *this)) {}

const Server::Methods& Server::BeforeInitialize() {
  static const Methods methods = [] {
    Methods table;
    table.Bind<mcp::Initialize>(&Server::Initialize);
    table.Bind<mcp::Ping>(&Server::Ping);
    return table;
  }();
  return methods;
}

const Server::Methods& Server::AfterInitialize() {
  static const Methods methods = [] {
    Methods table;
    table.Bind<mcp::Ping>(&Server::Ping);
    table.Bind<mcp::ListTools>(&Server::ListTools);
    table.Bind<mcp::CallTool>(&Server::CallTool);
    table.Bind<mcp::ListResources>(&Server::ListResources);
    table.Bind<mcp::ListPrompts>(&Server::ListPrompts);
    table.Bind<mcp::UpdateSandboxState>(&Server::UpdateSandboxState);
    return table;
  }();
  return methods;
}

void Server::OnRequest(const rpc::Request& request, rpc::PendingReply reply) {
  const auto* method = (initialized_ ? AfterInitialize() : BeforeInitialize()).Find(request.method);
  if (method == nullptr) {
    if (initialized_ && BeforeInitialize().Find(request.method) != nullptr) {
      return reply.Fail({ErrorKind::kInvalidRequest, fmt::format("{} was answered already", request.method)});
    }
    if (!initialized_ && AfterInitialize().Find(request.method) != nullptr) {
      return reply.Fail({ErrorKind::kInvalidRequest, fmt::format("{} needs initialize first", request.method)});
    }
    return reply.Fail({ErrorKind::kUnknownMethod, std::string(request.method)});
  }
  auto call = method->prepare(request.params);
  if (!call) return reply.Fail(call.error());
  (*call)(*this, std::move(reply));
}

// Other notifications, such as notifications/initialized, change nothing here. JSON-RPC never answers a notification.
void Server::OnNotification(const rpc::Notification& notification) {
  if (notification.method != Cancelled::kName) return;
  const auto id = IdOf(notification.params.Find("requestId"));
  if (!id) return;
  if (ShellCall* call = FindCall(*id)) call->Cancel();
}

void Server::OnStrayResponse(const rpc::Response&) {
  OnUnreadable({ErrorKind::kInvalidRequest, "a message without method that answers no question of this server"});
}

bool Server::OnRawMessage(std::string_view message) {
  if (!message.empty()) return false;
  OnUnreadable({ErrorKind::kInvalidRequest, fmt::format("a message is longer than {} bytes", kMaxMessageBytes)});
  return true;
}

void Server::OnCallForgotten(int64_t id) {
  peer_->Notify<Cancelled>({.request_id = {std::to_string(id)}, .reason = "The command that asked has ended"});
}

void Server::Initialize(const InitializeParams& params, rpc::Reply<InitializeResult> reply) {
  initialized_ = true;
  elicitation_ = ElicitationOf(params.capabilities.elicitation);
  reply({.protocol_version = AgreedVersion(params.protocol_version),
         .capabilities = {kCapabilities},
         .server_info = {.name = "holdfast", .version = kVersion},
         .instructions = kInstructions});
}

void Server::Ping(const NoParams&, rpc::Reply<wire::Empty> reply) { reply({}); }

void Server::ListTools(const NoParams&, rpc::Reply<ListToolsResult> reply) { reply({{DescribeShellTool()}}); }

void Server::ListResources(const NoParams&, rpc::Reply<ResourcesResult> reply) { reply({}); }

void Server::ListPrompts(const NoParams&, rpc::Reply<PromptsResult> reply) { reply({}); }

void Server::UpdateSandboxState(const SandboxStateParams& params, rpc::Reply<wire::Empty> reply) {
  if (auto updated = settings_.sandbox.Update(params); !updated) return reply.Fail(updated.error());
  reply({});
}

Result<> Server::CheckCall(const CallToolParams& params, const rpc::RequestId& id) const {
  if (params.name != kShellTool) {
    return Fail(ErrorKind::kInvalidParams, fmt::format("there is no tool \"{}\"", params.name));
  }
  TRY_VOID(CheckProgressToken(params.meta));
  if (stopping_) return Fail(ErrorKind::kInvalidRequest, "the server is stopping");
  if (FindCall(id) != nullptr) return Fail(ErrorKind::kInvalidRequest, "another call has the same id");
  if (calls_.size() >= kMaxCalls) return Fail(ErrorKind::kLimit, fmt::format("{} calls run already", kMaxCalls));
  return {};
}

void Server::CallTool(const CallToolParams& params, rpc::Reply<CallToolResult> reply) {
  if (auto allowed = CheckCall(params, reply.id()); !allowed) return reply.Fail(allowed.error());
  const auto arguments = DecodeShellArguments(params.arguments);
  if (!arguments) return reply.Fail(arguments.error());
  const auto sandbox = settings_.sandbox.OfCall(params.meta);
  if (!sandbox) return reply.Fail(sandbox.error());
  const ShellCallContext context{.loop = context_.loop,
                                 .start = context_.start,
                                 .interceptor = context_.interceptor,
                                 .peer = *peer_,
                                 .elicitation = elicitation_};
  auto call = std::make_unique<ShellCall>(context, TimeLimitOf(*arguments), params.meta.progress_token,
                                          std::move(reply), [this](ShellCall& ended) { OnCallEnd(ended); });
  ShellCall& started = *calls_.emplace_back(std::move(call));
  started.Start(ShellCommand(settings_.shell, *arguments, settings_.environment, *sandbox), *sandbox);
}

ShellCall* Server::FindCall(const rpc::RequestId& id) const {
  const auto found = std::ranges::find_if(calls_, [&](const auto& call) { return call->open_request() == id; });
  return found != calls_.end() ? found->get() : nullptr;
}

// The call is calling this function, so it is destroyed in a later turn of the loop.
void Server::OnCallEnd(ShellCall& call) {
  const auto found = std::ranges::find(calls_, &call, &std::unique_ptr<ShellCall>::get);
  context_.loop.Post([ended = std::move(*found)] {});
  calls_.erase(found);
  EndWhenEmpty();
}

void Server::Shutdown() {
  if (std::exchange(stopping_, true)) return;
  for (const auto& call : calls_) call->Cancel();
  if (!closed_) peer_->Close();
}

void Server::OnClosed() {
  closed_ = true;
  Shutdown();
  EndWhenEmpty();
}

void Server::EndWhenEmpty() {
  if (stopping_ && closed_ && calls_.empty() && on_end_) std::exchange(on_end_, {})();
}

}  // namespace holdfast::mcp
