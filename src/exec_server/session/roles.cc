#include "exec_server/session/roles.h"

#include <utility>

namespace holdfast::exec_server {

using wire::SessionRole;

Roles::Joined Roles::Join(Member member, std::optional<SessionRole> wanted) {
  const SessionRole free_role = driver_ ? SessionRole::kObserver : SessionRole::kDriver;
  const SessionRole role = wanted.value_or(free_role);
  if (role == SessionRole::kObserver) return {.role = role, .demoted = std::nullopt};
  return {.role = role, .demoted = TakeOver(member)};
}

Roles::Demoted Roles::TakeOver(Member member) {
  const std::optional<Member> before = std::exchange(driver_, member);
  return before == member ? std::nullopt : before;
}

void Roles::Leave(Member member) {
  if (driver_ == member) driver_.reset();
}

SessionRole Roles::RoleOf(Member member) const {
  return driver_ == member ? SessionRole::kDriver : SessionRole::kObserver;
}

}  // namespace holdfast::exec_server
