// The table of every method a session answers. `initialize` and `initialized` belong to the connection: they come
// before there is a session.
#pragma once

#include "exec_server/server_parts.h"
#include "exec_server/session/session.h"
#include "rpc/method_table.h"

namespace holdfast::exec_server {

using Methods = rpc::MethodTable<Session>;

Methods MakeMethods(ServerParts& parts);

}  // namespace holdfast::exec_server
