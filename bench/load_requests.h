// The HTTP requests that the load program makes to a node. They block.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::bench {

// Returns the URL of the WebSocket that the executor has to open. A refusal ends the program.
std::string RegisterExecutor(std::string_view node_url, std::string_view id, std::string_view token);

// Returns when the node knows an executor of this id.
void AwaitExecutor(std::string_view node_url, std::string_view id, std::string_view client_token);

}  // namespace holdfast::bench
