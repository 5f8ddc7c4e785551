// The proxies that a client lets a command reach. The client says it twice, by ports in the request and by variables in
// the command's environment, and a proxy counts only if both name it.
#pragma once

#include "base/result.h"
#include "process/command/environment.h"
#include "wire/managed_network.h"

namespace holdfast::exec_server {

// What the client asks for, with those of its ports that a proxy variable names. A port that no variable names is left
// out. A variable that names another port stays as it is, and leads nowhere inside. Without ports the variables alone
// decide. kInvalidParams when ports are given and no variable names one of them.
Result<wire::ManagedNetwork> AgreeOnProxies(wire::ManagedNetwork asked, const process::Environment& environment);

}  // namespace holdfast::exec_server
