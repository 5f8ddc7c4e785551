// The roles of the members of one session, as a state machine without I/O. At most one member drives the session, and
// all others observe it. A driver that leaves is not replaced: the next member that joins, or one that asks for it,
// drives the session then.
#pragma once

#include <cstdint>
#include <optional>

#include "wire/shared_session_messages.h"

namespace holdfast::exec_server {

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
  void Leave(Member member);

  const std::optional<Member>& driver() const { return driver_; }
  wire::SessionRole RoleOf(Member member) const;

 private:
  std::optional<Member> driver_;
};

}  // namespace holdfast::exec_server
