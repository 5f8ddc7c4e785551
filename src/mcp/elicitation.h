// The question to the user whether a command may run, asked through the MCP client by elicitation/create.
#pragma once

#include <string>

#include "escalate/approver.h"
#include "loop/event_loop.h"
#include "loop/task.h"
#include "rpc/peer.h"
#include "wire/json.h"

namespace holdfast::mcp {

// The text of a question about a command, which the user reads before deciding.

// Returns the question, such as "Allow agent to run `/usr/bin/git push` in `/home/u/p`?". Further lines say that the
// command will run outside of the sandbox, if it will, and the reason of the rule. A very long command is shortened,
// and the text says so.
std::string ApprovalMessage(const escalate::Question& question);

enum class Elicitation { kUnsupported, kSupported };

// Returns whether a client with this value of the capability `elicitation` shows forms to its user. An object without
// members means that it does.
Elicitation ElicitationOf(wire::Json capability);

// Asks when the client has read what it was sent before, and waits for the answer without a limit. Only the action
// `accept` allows the command. `loop` and `peer` outlive the task.
loop::Task<escalate::Answer> AskClient(loop::EventLoop& loop, rpc::Peer& peer, Elicitation elicitation,
                                       escalate::Question question);

}  // namespace holdfast::mcp
