// The part that this client has in a shared session. A server holds a broken connection for a while, so a driver that
// comes back after a loss may find its place taken: by its own old connection, or by a client that has taken over. It
// cannot tell which, and so it comes back as an observer, and becomes the driver again when its user next changes
// something.
#pragma once

#include <optional>

#include "wire/shared_session_messages.h"

namespace holdfast::client {

class OwnRole {
 public:
  using Role = wire::SessionRole;
  enum class Change { kNone, kDemoted };

  // The role to ask for after a loss. A driver asks for none, because that would demote the present driver.
  std::optional<Role> wanted() const {
    return role_ == Role::kObserver && !regain_ ? std::optional(Role::kObserver) : std::nullopt;
  }
  // The server has answered the handshake. Returns whether a driver has come back as an observer.
  Change OnGreeted(std::optional<Role> role) {
    const bool demoted = role_ == Role::kDriver && role == Role::kObserver;
    regain_ = role == Role::kObserver && (demoted || regain_);
    role_ = role;
    return demoted ? Change::kDemoted : Change::kNone;
  }
  // The server has changed the role while there was a connection.
  void Set(Role role) {
    role_ = role;
    regain_ = false;
  }

  const std::optional<Role>& get() const { return role_; }  // only in a shared session
  bool regain() const { return regain_; }                   // take over before the next change

 private:
  std::optional<Role> role_;
  bool regain_ = false;
};

}  // namespace holdfast::client
