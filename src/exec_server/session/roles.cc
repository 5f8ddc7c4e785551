#include "exec_server/session/roles.h"

#include <utility>

#include <fmt/format.h>

#include "wire/methods.h"

namespace holdfast::exec_server {

using wire::SessionRole;

Result<> RequireDriver(SessionRole role) {
  if (role == SessionRole::kDriver) return {};
  return Fail(
      ErrorKind::kInvalidRequest,
      fmt::format("this connection only observes the session; {} makes it the driver", wire::SessionTakeOver::kName));
}

Roles::Joined Roles::Join(Member member, std::optional<SessionRole> wanted) {
  const SessionRole free_role = driver_ ? SessionRole::kObserver : SessionRole::kDriver;
  const SessionRole role = wanted.value_or(free_role);
  if (role == SessionRole::kObserver) return {.role = role, .demoted = std::nullopt};
  return {.role = role, .demoted = TakeOver(member)};
}

Roles::Demoted Roles::TakeOver(Member member) {
  const std::optional<Member> before = std::exchange(driver_, member);
  if (before == member) return std::nullopt;
  std::erase(former_, member);
  if (before) former_.push_back(*before);
  return before;
}

std::optional<Roles::Member> Roles::Leave(Member member) {
  std::erase(former_, member);
  if (driver_ != member) return std::nullopt;
  driver_.reset();
  if (former_.empty()) return std::nullopt;
  driver_ = former_.back();
  former_.pop_back();
  return driver_;
}

SessionRole Roles::RoleOf(Member member) const {
  return driver_ == member ? SessionRole::kDriver : SessionRole::kObserver;
}

}  // namespace holdfast::exec_server
