// The words in which a client says why a server has refused its WebSocket. A rendezvous is recognized by its path,
// /executors/ID, and its statuses have a meaning of their own.
#pragma once

#include <string_view>

#include "base/result.h"
#include "transport/dial_url.h"
#include "transport/refusal.h"

namespace holdfast::client {

// Returns whether the server will refuse the same token again.
bool RefusesToken(const transport::Refusal& refusal);

// Returns the error of a refused connection, with the server's own reason at its end. `general` is the error that does
// not know the rendezvous. The kind is kDisconnected if the executor is not there, and else that of `general`. No part
// of the message is the token, even if the server repeats it.
Error RefusalError(const transport::WebSocketServer& server, const transport::Refusal& refusal, const Error& general,
                   std::string_view token);

}  // namespace holdfast::client
