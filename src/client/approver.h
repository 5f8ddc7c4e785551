// An approver answers the questions of the server about commands that the rules of a supervised process leave to a
// person (StartOptions::exec_policy). A client without an approver denies.
#pragma once

#include <functional>

#include "loop/task.h"
#include "wire/exec_policy_messages.h"

namespace holdfast::client {

// Runs on the loop's thread. Several questions may be open at a time. The answer to a question whose command has ended
// meanwhile is dropped.
using Approver = std::function<loop::Task<wire::ExecApproveResult>(wire::ExecApproveParams question)>;

// The same for a BlockingClient. It runs on a thread of its own for each question, and may block.
using BlockingApprover = std::function<wire::ExecApproveResult(const wire::ExecApproveParams& question)>;

}  // namespace holdfast::client
