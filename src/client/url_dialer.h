// A dialer that connects to the server at a URL.
#pragma once

#include <memory>

#include "base/result.h"
#include "client/connect_options.h"
#include "loop/event_loop.h"

namespace holdfast::client {

// Fails if the URL is not one of a server.
Result<std::unique_ptr<Dialer>> MakeUrlDialer(loop::EventLoop& loop, const ConnectOptions& options);

}  // namespace holdfast::client
