// The table of every method that a session answers. `initialize` and `initialized` are not in it: they come before
// there is a session, and the connection handles them.
#pragma once

#include "exec_server/server_parts.h"
#include "exec_server/session/attachment.h"
#include "exec_server/session/session_service.h"
#include "rpc/method_table.h"

namespace holdfast::exec_server {

using Methods = rpc::MethodTable<Attachment>;

Methods MakeMethods(ServerParts& parts, SessionService& sessions);
}  // namespace holdfast::exec_server
