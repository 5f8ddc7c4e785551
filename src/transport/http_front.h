// An HttpFront owns accepted sockets until it is known what their peers want. It answers plain HTTP requests itself,
// and passes the other sockets on as connections or calls, which it counts against the limit. With TLS, the handshake
// of a socket has the time that its request has.
#pragma once

#include <list>
#include <memory>
#include <string>

#include "base/owned_fd.h"
#include "transport/byte_stream.h"
#include "transport/connection_slots.h"
#include "transport/http_farewells.h"
#include "transport/http_request.h"
#include "transport/listener.h"

namespace holdfast::transport {

class HttpFront {
 public:
  enum class Language { kHttp, kHttpOrLines };

  HttpFront(loop::EventLoop& loop, Language language, const Limits& limits, HttpFrontOptions options,
            OnConnection on_connection);
  ~HttpFront();

  void Serve(OwnedFd socket, std::string peer);

 private:
  class Requester;
  using Requesters = std::list<std::unique_ptr<Requester>>;

  std::unique_ptr<ByteStream> StreamOf(OwnedFd socket) const;

  // Disconnects a requester in favour of the next one.
  void MakeRoom();

  // Each of these functions removes the requester.
  void Forget(Requesters::iterator requester);
  void HandOverWebSocket(Requesters::iterator requester, std::string key, std::string early_input, Slot slot);
  void HandOverCall(Requesters::iterator requester, CallHead head, std::string early_input, Slot slot);
  void HandOverLines(Requesters::iterator requester, std::string early_input);

  loop::EventLoop& loop_;
  const Language language_;
  const Limits limits_;
  const HttpFrontOptions options_;
  // Upgrades under way hold a weak reference, so that no connection is passed on after this object is gone.
  std::shared_ptr<OnConnection> on_connection_;
  std::shared_ptr<HttpFarewells> farewells_;  // calls hold a weak reference
  ConnectionSlots slots_;
  Requesters requesters_;  // the latest comes first
};

}  // namespace holdfast::transport
