// A dialer that starts a server as a child process and talks to it over pipes. The session ends with the child, so it
// makes one connection only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/connect_options.h"
#include "loop/event_loop.h"

namespace holdfast::client {

// `argv` is a command that serves the protocol on its standard streams: holdfast exec-server --listen stdio.
std::unique_ptr<Dialer> MakeChildDialer(loop::EventLoop& loop, std::vector<std::string> argv);

}  // namespace holdfast::client
