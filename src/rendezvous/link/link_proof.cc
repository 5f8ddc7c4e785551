#include "rendezvous/link/link_proof.h"

#include "auth/hmac.h"
#include "base/random_id.h"
#include "wire/encode.h"

namespace holdfast::rendezvous {
namespace {

// Tickets are signed with the ticket key itself.
constexpr std::string_view kPurpose = "links between the nodes of a rendezvous";

}  // namespace

// JSON keeps the terms apart from each other and from the role.
std::string LinkProof(LinkRole role, const LinkTerms& terms, std::string_view key) {
  const std::string_view by = role == LinkRole::kDialler ? "dialler " : "acceptor ";
  return auth::HmacSha256(std::string(by).append(wire::Encode(terms)), auth::HmacSha256(kPurpose, key));
}

bool IsLinkProof(std::string_view given, LinkRole role, const LinkTerms& terms, std::string_view key) {
  return !key.empty() && IsSameSecret(given, LinkProof(role, terms, key));
}

}  // namespace holdfast::rendezvous
