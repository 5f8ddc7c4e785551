// The question to the user whether a command may run, asked through the MCP client by elicitation/create.
#pragma once

#include "escalate/approver.h"
#include "loop/task.h"
#include "rpc/peer.h"
#include "wire/json.h"

namespace holdfast::mcp {

enum class Elicitation { kUnsupported, kSupported };

// Returns whether a client with this value of the capability `elicitation` shows forms to its user. An object without
// members means that it does.
Elicitation ElicitationOf(wire::Json capability);

// Asks, and waits for the answer without a limit. Only the action `accept` allows the command. `peer` outlives the
// task.
loop::Task<escalate::Answer> AskClient(rpc::Peer& peer, Elicitation elicitation, escalate::Question question);

}  // namespace holdfast::mcp
