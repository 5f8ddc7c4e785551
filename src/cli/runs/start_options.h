// The options of `holdfast run` that describe the command, as the client library wants them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/connect/invocation.h"
#include "client/exec_server_client.h"
#include "client/process.h"

namespace holdfast::cli {

// Reads the command, its directory, its environment, its sandbox and its streams from the arguments. On this machine
// the command gets the environment of this program; on another one that of the server.
Result<client::StartOptions> StartOptionsFrom(const Invocation& invocation, const client::ExecServerClient& client);

// Returns the JSON of the sandbox that a value of --sandbox names: read-only, workspace-write, or a file that has a
// sandbox as the protocol writes it. The workspace is `cwd`. Returns an empty text for "none".
Result<std::string> SandboxText(const std::string& profile, const std::string& cwd);

}  // namespace holdfast::cli
