// The roles of the members of one session, as a state machine without I/O. At most one member drives the session, and
// all others observe it. When the driver leaves, the member from which it took the session over drives again. If there
// is none, the next member that joins, or one that asks for it, drives the session.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "wire/shared_session_messages.h"

namespace holdfast::exec_server {

// Fails if a client with this role may not change anything.
Result<> RequireDriver(wire::SessionRole role);

class Roles {
 public:
  using Member = uint64_t;  // a number that no other member of the session has or had

  // The result of a request to drive: the member that drove the session before, unless there was none or it is the
  // member that asked.
  using Demoted = std::optional<Member>;

  struct Joined {
    wire::SessionRole role;
    Demoted demoted;

    friend bool operator==(const Joined&, const Joined&) = default;
  };

  // A member that wants no particular role drives the session if no other member does.
  Joined Join(Member member, std::optional<wire::SessionRole> wanted);
  Demoted TakeOver(Member member);
  // Returns the member that drives again, because the driver has left.
  std::optional<Member> Leave(Member member);

  const std::optional<Member>& driver() const { return driver_; }
  wire::SessionRole RoleOf(Member member) const;

 private:
  std::optional<Member> driver_;
  std::vector<Member> former_;  // members that were demoted and have not left, the latest last
};

}  // namespace holdfast::exec_server
