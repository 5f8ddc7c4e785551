// The bridge is a process outside of the sandbox that carries connections of the command to the proxies of the host.
// The command connects to listeners in its own network namespace (listener.h). The bridge gets these listeners by
// descriptor and accepts on them, so there is no socket file and no process of ours inside.
//
// The bridge ends when all copies of its control socket are closed: with the helper and pid 1 of a sandbox, or, if a
// jail has started it, with pid 1 alone. It holds nothing else open that its parent has open.
//
// What it does not stop: anything that the proxy itself allows. The bridge does not inspect what the command sends.
#pragma once

#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"
#include "sandbox/proxy/routes.h"

namespace holdfast::sandbox {

// Starts a bridge, in a child of this process, which must have no other threads. Returns the control socket, by which
// the bridge receives its listeners: one per endpoint, in one message. It is not close-on-exec, so that the inner stage
// inherits it.
Result<OwnedFd> StartProxyBridge(const std::vector<ProxyEndpoint>& endpoints);

}  // namespace holdfast::sandbox
