// The Reception owns accepted sockets until it is known what their peers want. It answers plain HTTP requests itself,
// and passes the other sockets on as connections, which it counts against the limit.
#pragma once

#include <list>
#include <memory>
#include <string>

#include "base/owned_fd.h"
#include "transport/connection_slots.h"
#include "transport/listener.h"

namespace holdfast::transport {

class Reception {
 public:
  enum class Language { kHttp, kHttpOrLines };

  Reception(loop::EventLoop& loop, Language language, const Limits& limits, Admission admission,
            OnConnection on_connection);
  ~Reception();

  void Welcome(OwnedFd socket, std::string peer);

 private:
  class Guest;
  using Guests = std::list<std::unique_ptr<Guest>>;

  // Each of these functions removes the guest.
  void Dismiss(Guests::iterator guest);
  void HandOverWebSocket(Guests::iterator guest, std::string key, std::string early_input, Slot slot);
  void HandOverLines(Guests::iterator guest, std::string early_input);

  loop::EventLoop& loop_;
  const Language language_;
  const Limits limits_;
  const Admission admission_;
  // Upgrades under way hold a weak reference, so that no connection is passed on after this object is gone.
  std::shared_ptr<OnConnection> on_connection_;
  ConnectionSlots slots_;
  Guests guests_;
};

}  // namespace holdfast::transport
