// RunExecServer is a whole server as one call, for the program `holdfast` and for programs that embed a server.
//
//   exec_server::Config config;
//   config.listen = exec_server::kDefaultListenUrl;
//   auto ended = exec_server::RunExecServer(config, exec_server::InstalledIn("/usr/local/bin"), [](const auto& url) {
//   ... });
//
// A program that already has an event loop uses Server (server.h) instead. The errors of a listen URL have a type of
// their own (transport/listen_url.h), and the structs of all requests and answers are in wire/.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "exec_server/config/config.h"
#include "exec_server/runtime_paths.h"

namespace holdfast::exec_server {

// Told the URL of the server when it listens; not called for a server on standard input and output.
using OnListening = std::function<void(const std::string& url)>;

// Serves on this thread until SIGTERM or SIGINT arrives; a second signal ends the process at once. If clients need
// tokens, SIGHUP makes the server read the file of the token or secret again. The call changes the whole process:
// SIGPIPE and SIGXFSZ are ignored, the descriptors 0 to 11 are reserved, the log is set up as the settings say, and
// orphans of commands become children of this process.
Result<> RunExecServer(const Config& config, const RuntimePaths& paths, const OnListening& on_listening = {});

}  // namespace holdfast::exec_server
