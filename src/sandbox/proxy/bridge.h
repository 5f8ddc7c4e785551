// The process outside that carries what a command sends to the proxies of the host, and back. The command's end of it
// is a listener in its own network namespace (proxy_listener.h); the bridge gets it by descriptor and accepts on it, so
// there is no socket file, and no process of ours inside.
//
// The bridge ends with whoever started it, whatever ends that, and holds none of its streams open.
//
// What it does not stop: anything that the proxy itself allows. What the command sends is not looked at.
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
  // To be called by a process without other threads.
  static Result<ProxyBridge> Start(const std::vector<ProxyEndpoint>& endpoints);
  ProxyBridge(ProxyBridge&&) = default;
  ProxyBridge& operator=(ProxyBridge&&) = delete;
  // When the command has ended: what it had sent is passed on, if the proxies take it without delay.
  ~ProxyBridge();

  // Inherited by what is started meanwhile. It takes one listener per endpoint, in one message.
  int control() const { return control_.get(); }

 private:
  ProxyBridge(OwnedFd control, sys::Child process) : control_(std::move(control)), process_(std::move(process)) {}

  OwnedFd control_;
  sys::Child process_;
};

}  // namespace holdfast::sandbox
