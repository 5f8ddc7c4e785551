#include "rendezvous/ticket.h"

#include <optional>

#include "auth/hmac.h"
#include "base/base64_url.h"
#include "base/random_id.h"
#include "wire/decode.h"
#include "wire/encode.h"

namespace holdfast::rendezvous {
namespace {

constexpr size_t kMaxTicketBytes = 4u << 10;

// The names are short because a ticket is a part of a URL.
struct Content {
  std::string e, r, n, t;

  void Fields(auto& f) {
    f.Required("e", e);
    f.Required("r", r);
    f.Required("n", n);
    f.Required("t", t);
  }
};

std::unexpected<Error> NoTicket() { return Fail(ErrorKind::kPermissionDenied, "this is no valid ticket"); }

}  // namespace

std::string Signed(const Ticket& ticket, std::string_view key) {
  const std::string content = Base64UrlEncode(wire::Encode(
      Content{.e = ticket.executor_id, .r = ticket.registration_id, .n = ticket.name, .t = ticket.token_sha256}));
  return content + "." + Base64UrlEncode(auth::HmacSha256(content, key));
}

// Nothing of a ticket is parsed before its signature has been checked.
Result<Ticket> Verified(std::string_view text, std::string_view key) {
  const size_t dot = text.find('.');
  if (text.size() > kMaxTicketBytes || dot == std::string_view::npos || key.empty()) return NoTicket();
  const std::string_view content = text.substr(0, dot);
  const auto signature = Base64UrlDecode(text.substr(dot + 1));
  if (!signature || !IsSameSecret(*signature, auth::HmacSha256(content, key))) return NoTicket();
  const auto json_text = Base64UrlDecode(content);
  if (!json_text) return NoTicket();
  wire::Document document;
  const auto json = document.Parse(*json_text);
  if (!json) return NoTicket();
  auto decoded = wire::Decode<Content>(*json);
  if (!decoded) return NoTicket();
  return Ticket{.executor_id = std::move(decoded->e),
                .registration_id = std::move(decoded->r),
                .name = std::move(decoded->n),
                .token_sha256 = std::move(decoded->t)};
}

}  // namespace holdfast::rendezvous
