// A dialer that connects to the server at a URL.
#pragma once

#include <memory>

#include "base/result.h"
#include "client/connect_options.h"
#include "loop/event_loop.h"

namespace holdfast::client {

// Fails if the URL is not one of a server. The dialer is exhausted when a server has refused the token (401, 403); any
// other failure may pass.
Result<std::unique_ptr<Dialer>> MakeUrlDialer(loop::EventLoop& loop, const ConnectOptions& options);

// Returns whether machines on the way to the server can read the token that it is sent, so that a user can be warned.
bool IsTokenReadable(const ConnectOptions& options);

}  // namespace holdfast::client
