// AuthorizerFor decides from the configuration how a WebSocket listener distinguishes the server's clients from other
// processes.
#pragma once

#include <memory>

#include "base/result.h"
#include "exec_server/config/config.h"
#include "exec_server/token_auth.h"
#include "transport/authorizer.h"
#include "transport/listen_url.h"

namespace holdfast::exec_server {

// Returns the condition under which a connection is admitted. With `tokens` it is a bearer token. With `ws_auth`
// "url-secret" it is a fresh random secret in the URL; with "auto" too, if the server picks its port and
// `insecure_no_auth` is off. Otherwise only processes of the server's user and of root are admitted, or all processes
// if `insecure_no_auth` is on. Fails if other machines could reach the address and the configuration does not allow
// that, or if the user behind a connection is needed and cannot be found on this machine.
Result<transport::Authorizer> AuthorizerFor(const transport::WebSocketUrl& url, const Config& config,
                                            const std::shared_ptr<TokenAuth>& tokens);

// Fails if the configuration asks for a secret or a token although the server does not listen on a port: the other
// transports have neither a URL with a path nor a request with headers.
Result<> CheckAuthWithoutPort(const Config& config);

}  // namespace holdfast::exec_server
