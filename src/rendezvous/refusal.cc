#include "rendezvous/refusal.h"

#include <array>
#include <string>

#include "wire/encode.h"

namespace holdfast::rendezvous {
namespace {

struct Row {
  unsigned status;
  std::string_view code, message;
  std::string_view header = {}, value = {};
};

// The rows are in the order of the enum. An executor that gets 401 for its ticket registers again; 403 would end it.
constexpr auto kRows = std::to_array<Row>({
    {401, "no_token", "the request has no bearer token", "WWW-Authenticate", "Bearer"},
    {401, "bad_token", "the token is not valid here", "WWW-Authenticate", "Bearer"},
    {429, "too_many_attempts", "too many failed attempts, wait a minute", "Retry-After", "60"},
    {403, "id_not_allowed", "the token is not for this id"},
    {401, "bad_ticket", "the ticket is not valid here; register again"},
    {400, "bad_id", "an id has 1 to 128 bytes of UTF-8 without control characters and slashes"},
    {400, "bad_request", "the body is not a registration"},
    {426, "no_upgrade", "this path speaks WebSocket", "Upgrade", "websocket"},
    {404, "unknown_path", "no such path"},
    {405, "bad_method", "this path accepts another method"},
    {404, "unknown_executor", "no executor with this id is known"},
    {503, "none_waits", "the executor has no connection for another client at this moment", "Retry-After", "1"},
    {429, "token_is_full", "the token has as many connections as it may have", "Retry-After", "1"},
    {503, "not_ready", "the node is not connected to the others", "Retry-After", "1"},
    {503, "node_unreachable", "the node that has the executor cannot be reached from this one", "Retry-After", "1"},
});
static_assert(kRows.size() == kRefusals);

const Row& RowOf(Refusal refusal) { return kRows.at(static_cast<size_t>(refusal)); }

struct ErrorBody {
  struct Content {
    std::string code, message;
    void Fields(auto& f) {
      f.Required("code", code);
      f.Required("message", message);
    }
  } error;

  void Fields(auto& f) { f.Required("error", error); }
};

}  // namespace

std::string_view CodeOf(Refusal refusal) { return RowOf(refusal).code; }

transport::HttpResponse ResponseTo(Refusal refusal, std::string_view message) {
  const Row& row = RowOf(refusal);
  ErrorBody body{.error = {.code = std::string(row.code), .message = std::string(message)}};
  if (message.empty()) body.error.message = row.message;
  transport::HttpResponse response{
      .status = row.status, .body = wire::Encode(std::move(body)) + "\n", .content_type = "application/json"};
  if (!row.header.empty()) response.headers.emplace_back(row.header, row.value);
  return response;
}

}  // namespace holdfast::rendezvous
