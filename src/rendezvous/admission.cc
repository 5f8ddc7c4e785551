#include "rendezvous/admission.h"

#include <optional>
#include <utility>

#include "auth/bearer_token.h"
#include "auth/peer_address.h"
#include "base/log.h"
#include "rendezvous/route.h"

namespace holdfast::rendezvous {
namespace {

using Role = TokenRights::Role;

std::expected<std::string, Refusal> TokenIn(const transport::HttpMessage& request, Role role) {
  const auto headers = request.HeaderValues("Authorization");
  if (headers.empty() && role == Role::kClient) {
    if (auto token = QueryValue(request.query, "token")) return *std::move(token);
  }
  const auto token = auth::BearerTokenOf(headers);
  if (token) return std::string(*token);
  return std::unexpected(token.error() == auth::Refusal::kNoToken ? Refusal::kNoToken : Refusal::kBadToken);
}

void LogFailure(const auth::PeerAddress& address, auth::AttemptLimit::Failure failure, Refusal refusal) {
  using Failure = auth::AttemptLimit::Failure;
  const std::string peer = address.text();
  if (failure == Failure::kFirst) LogWarn("auth.refused", {{"address", peer}, {"reason", CodeOf(refusal)}});
  if (failure == Failure::kReachesLimit) {
    LogWarn("auth.limited", {{"address", peer}, {"failures", auth::AttemptLimit::kMaxFailures}});
  }
}

}  // namespace

std::expected<TokenRights, Refusal> Admission::Check(const transport::HttpCall& call, Role role) {
  const auth::PeerAddress address = auth::PeerAddress::Of(call.socket());
  const auto now = auth::AttemptLimit::Clock::now();
  const auto token = TokenIn(call.request(), role);
  const TokenRights* const rights = token ? table_.OfToken(*token, role) : nullptr;
  if (rights != nullptr) return *rights;
  const bool is_limited = limit_.WaitOf(address, now).has_value();
  const Refusal refusal = token ? Refusal::kBadToken : token.error();
  LogFailure(address, limit_.Count(address, now), refusal);
  return std::unexpected(is_limited ? Refusal::kTooManyAttempts : refusal);
}

void Admission::Replace(TokenTable table) {
  table_ = std::move(table);
  std::erase_if(slots_, [](const auto& entry) { return entry.second.use_count() == 1; });
}

transport::Slot Admission::TakeSlot(const TokenRights& rights) {
  std::shared_ptr<char>& slot = slots_[rights.token_sha256];
  if (!slot) slot = std::make_shared<char>();
  const auto used = static_cast<size_t>(slot.use_count()) - 1;
  return used < rights.max_connections ? slot : nullptr;
}

}  // namespace holdfast::rendezvous
