#include "client/recovery.h"

#include <fmt/format.h>

namespace holdfast::client {
namespace {

// Servers before 0.142 have no code of their own for this refusal.
bool StillAttached(const Error& error) {
  return error.kind == ErrorKind::kSessionAttached ||
         (error.kind == ErrorKind::kInvalidRequest && error.message.contains("already attached"));
}

}  // namespace

void Recovery::OnRefused(const Error& error) {
  cause_ = error;
  final_ = !StillAttached(error);
}

std::optional<Recovery::Time> Recovery::NextAttempt() const {
  if (final_ || next_attempt_ >= lost_at_ + limits_.give_up) return std::nullopt;
  return next_attempt_;
}

Error Recovery::failure() const {
  const std::string cause = cause_ ? cause_->message : "the connection has ended";
  if (final_) return {ErrorKind::kDisconnected, "the session is lost: " + cause};
  return {ErrorKind::kDisconnected,
          fmt::format("the session is lost: no connection for {} ms: {}", limits_.give_up.count(), cause)};
}

}  // namespace holdfast::client
