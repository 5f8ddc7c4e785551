// The bridge is a process outside of the sandbox that carries connections of the command to the proxies of the host.
// The command connects to listeners in its own network namespace (listener.h). The bridge gets these listeners by
// descriptor and accepts on them, so there is no socket file and no process of ours inside.
//
// The bridge ends when the process that started it ends, for whatever reason, and holds none of its streams open.
//
// What it does not stop: anything that the proxy itself allows. The bridge does not inspect what the command sends.
#pragma once

#include <sys/types.h>

#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"
#include "sandbox/proxy/routes.h"
#include "sys/pidfd.h"

namespace holdfast::sandbox {

class ProxyBridge {
 public:
  // Starts the bridge. The calling process must have no other threads.
  static Result<ProxyBridge> Start(const std::vector<ProxyEndpoint>& endpoints);
  ProxyBridge(ProxyBridge&&) = default;
  ProxyBridge& operator=(ProxyBridge&&) = delete;
  // Ends the bridge, after the command has ended. Bytes that the command has sent still go to the proxies, if these
  // accept them within 200 ms.
  ~ProxyBridge();

  // The socket by which the bridge receives its listeners: one per endpoint, in one message. It is not close-on-exec,
  // so that the inner stage inherits it.
  int control() const { return control_.get(); }

 private:
  ProxyBridge(OwnedFd control, sys::Child process) : control_(std::move(control)), process_(std::move(process)) {}

  OwnedFd control_;
  sys::Child process_;
};

}  // namespace holdfast::sandbox
