// An Acceptor accepts connections on one listening socket for as long as it lives. If the server runs out of
// descriptors or memory, the acceptor pauses and tries again.
#pragma once

#include <functional>

#include "base/owned_fd.h"
#include "loop/event_loop.h"

namespace holdfast::transport {

class Acceptor {
 public:
  // The accepted socket is non-blocking and close-on-exec.
  using OnAccepted = std::function<void(OwnedFd)>;

  Acceptor(loop::EventLoop& loop, OwnedFd listening, OnAccepted on_accepted);

 private:
  void AcceptSome();

  OwnedFd listening_;
  OnAccepted on_accepted_;
  loop::FdWatch watch_;
  loop::Timer pause_;
};

}  // namespace holdfast::transport
