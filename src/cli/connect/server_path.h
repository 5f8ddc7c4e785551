// Paths on the server as users write them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/connect/invocation.h"
#include "client/exec_server_client.h"

namespace holdfast::cli {

// Returns the directory that relative paths on the server are below: the current directory of this program if the
// server runs on this machine, else that of the server.
Result<std::string> ServerDirectory(const Invocation& invocation, const client::ExecServerClient& client);

// Returns an absolute path. A colon at its beginning, which marks a path of the server, is left out.
std::string ServerPath(std::string_view text, const std::string& directory);

// Returns the path of something in a directory; the directory itself if the name is empty.
std::string JoinedPath(const std::string& directory, const std::string& name);

}  // namespace holdfast::cli
