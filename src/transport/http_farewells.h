// HttpFarewells owns the sockets of calls that were answered. It sends each answer whole, however long it is, and then
// waits until the peer has closed the socket: closing a socket while the peer still sends would reset the connection,
// and the answer could be lost. Both have a time limit.
#pragma once

#include <list>
#include <memory>
#include <string>

#include "loop/event_loop.h"
#include "transport/byte_stream.h"
#include "transport/connection_slots.h"
#include "transport/listener.h"

namespace holdfast::transport {

class HttpFarewells {
 public:
  HttpFarewells(loop::EventLoop& loop, const Limits& limits);
  ~HttpFarewells();  // closes what is left

  // The slot is given back when the socket is closed.
  void Begin(std::unique_ptr<ByteStream> stream, std::string answer, Slot slot);

 private:
  class Farewell;
  using List = std::list<std::unique_ptr<Farewell>>;

  loop::EventLoop& loop_;
  const Limits limits_;
  List farewells_;
};

}  // namespace holdfast::transport
