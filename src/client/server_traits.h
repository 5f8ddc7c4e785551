// The facts that the library knows about its server, and about its own part in a shared session. Servers of several
// versions speak the protocol, and differ in how they want paths and in the methods that they have.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "wire/methods.h"
#include "wire/session_messages.h"
#include "wire/shared_session_messages.h"

namespace holdfast::client {

// The methods that a client may call again when the connection is lost before the answer: a second execution of them
// changes nothing.

// A method that observers may call only looks, with the exceptions below.
template <typename Method>
inline constexpr bool kRepeatable = Method::kCaller == wire::Caller::kDriverOrObserver;
// Observers may call these two as well, and they change the roles of a session.
template <>
inline constexpr bool kRepeatable<wire::Initialize> = false;
template <>
inline constexpr bool kRepeatable<wire::SessionTakeOver> = false;

template <>
inline constexpr bool kRepeatable<wire::ProcessCloseStdin> = true;
template <>
inline constexpr bool kRepeatable<wire::ProcessResize> = true;
template <>
inline constexpr bool kRepeatable<wire::ProcessTerminate> = true;

struct ServerTraits {
  // Servers before 0.142 have no environment/info. They take paths only as they are, and know no ids of writes.
  bool has_environment_info = true;
  std::optional<wire::EnvironmentInfo> environment = {};

  // Returns an absolute path in the form that this server understands.
  std::string PathText(const std::string& path) const;
  bool remembers_writes() const { return has_environment_info; }
  bool streams_uploads() const { return environment && environment->capabilities.file_write_streaming; }
  // The server goes on with uploads that were cut, and knows the permissions of files.
  bool updates_files() const { return streams_uploads() && environment->capabilities.file_update; }
};

// The part that this client has in a shared session. A server holds a broken connection for a while, so a driver that
// comes back after a loss may find its place taken: by its own old connection, or by a client that has taken over. It
// cannot know which, and so it comes back as an observer, and becomes the driver again when its user next changes
// something.
class OwnRole {
 public:
  using Role = wire::SessionRole;
  enum class Change { kNone, kDemoted };

  // The role to ask for after a loss. A driver asks for none, because that would demote the present driver.
  std::optional<Role> wanted() const {
    return role_ == Role::kObserver && !regain_ ? std::optional(Role::kObserver) : std::nullopt;
  }
  // The server has answered the handshake. Returns whether a driver is an observer now.
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
