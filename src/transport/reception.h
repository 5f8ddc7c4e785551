// Where accepted sockets stay until it is known what they want: HTTP requests are answered here, the others leave as
// connections. Owns the sockets meanwhile, and counts those that left against the limit.
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

  // Each takes the guest away.
  void Dismiss(Guests::iterator guest);
  void HandOverWebSocket(Guests::iterator guest, std::string key, std::string early_input, Slot slot);
  void HandOverLines(Guests::iterator guest, std::string early_input);

  loop::EventLoop& loop_;
  const Language language_;
  const Limits limits_;
  const Admission admission_;
  std::shared_ptr<OnConnection> on_connection_;  // upgrades under way hold it weakly: after us nothing is handed over
  ConnectionSlots slots_;
  Guests guests_;
};

}  // namespace holdfast::transport
