// The way in which the server answers on its port: the routes, the proof that a client has to give, and TLS.
#pragma once

#include <memory>

#include "base/result.h"
#include "exec_server/config/config.h"
#include "exec_server/token_auth.h"
#include "transport/listener.h"

namespace holdfast::exec_server {

// Returns the paths that the server answers: a WebSocket on `/`, and the probes for everyone.
transport::HttpRoutes ServerRoutes();

// Returns how the server answers on the port of `url`. `tokens` is null if clients need no bearer token. Fails if the
// configuration does not allow the address (see AuthorizerFor), or if it has only half of what TLS needs, or files that
// cannot be used. A key that every user may read is a warning in the log.
Result<transport::HttpFrontOptions> FrontOptionsFor(const transport::WebSocketUrl& url, const Config& config,
                                                    const std::shared_ptr<TokenAuth>& tokens = {});

// Fails if the configuration asks for TLS although the server does not listen on a port.
Result<> CheckTlsWithoutPort(const Config& config);

}  // namespace holdfast::exec_server
