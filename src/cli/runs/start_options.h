// The options of `holdfast run` that describe the command, as the client library wants them.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/connect/invocation.h"
#include "client/exec_server_client.h"
#include "client/process.h"

namespace holdfast::cli {

// Reads the command, its directory, its environment, its sandbox and its streams from the arguments. On this machine
// the command gets the environment of this program; on another one that of the server. In both it finds the name of its
// run in HOLDFAST_RUN. Tells the user which variables a command with a sandbox or with rules does not get.
Result<client::StartOptions> StartOptionsFrom(const Invocation& invocation, const std::string& run_name,
                                              const client::ExecServerClient& client);

// Returns what the options of the sandbox would enforce, as text with one line per step. Only for a server that is on
// this machine: the text is made here, and no server is asked.
Result<std::string> ExplainSandbox(const Invocation& invocation);

}  // namespace holdfast::cli
