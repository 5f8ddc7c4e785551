// Every method and notification of MCP that the server knows: the requests that it answers, the request that it makes,
// and the notifications of both ends.
#pragma once

#include "mcp/messages/sandbox_messages.h"
#include "mcp/messages/session_messages.h"
#include "mcp/messages/tool_messages.h"
#include "wire/field_types.h"
#include "wire/method.h"

namespace holdfast::mcp {

struct Initialize : wire::Method<"initialize", InitializeParams, InitializeResult> {};
struct Ping : wire::Method<"ping", NoParams, wire::Empty> {};
struct ListTools : wire::Method<"tools/list", NoParams, ListToolsResult> {};
struct CallTool : wire::Method<"tools/call", CallToolParams, CallToolResult> {};
struct ListResources : wire::Method<"resources/list", NoParams, ResourcesResult> {};
struct ListPrompts : wire::Method<"prompts/list", NoParams, PromptsResult> {};
struct UpdateSandboxState : wire::Method<"codex/sandbox-state/update", SandboxStateParams, wire::Empty> {};

// The server makes this request, and the client answers it.
struct Elicit : wire::Method<"elicitation/create", ElicitParams, ElicitResult> {};

// Both ends send Cancelled; only the server sends Progress.
struct Cancelled : wire::Notification<"notifications/cancelled", CancelledParams> {};
struct Progress : wire::Notification<"notifications/progress", ProgressParams> {};

}  // namespace holdfast::mcp
