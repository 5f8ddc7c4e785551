// AgreeOnProxies decides which proxies a command under a managed network may reach. A client names them twice: by ports
// in the request, and by proxy variables in the command's environment. A proxy may be reached only if both name it.
#pragma once

#include "base/result.h"
#include "process/command/environment.h"
#include "wire/managed_network.h"

namespace holdfast::exec_server {

// Returns the client's request with only those ports that a proxy variable names too. A variable that names another
// port stays as it is, and leads nowhere inside the sandbox. If the request has no ports, the variables alone decide.
// Fails with kInvalidParams if the request has ports and no variable names one of them.
Result<wire::ManagedNetwork> AgreeOnProxies(wire::ManagedNetwork asked, const process::Environment& environment);

}  // namespace holdfast::exec_server
