#include "client/refusal_error.h"

#include <string>

#include <fmt/format.h>

#include "base/shown_text.h"
#include "wire/json.h"

namespace holdfast::client {
namespace {

constexpr std::string_view kExecutors = "/executors/";
constexpr size_t kMaxReasonBytes = 200;

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string Without(std::string text, std::string_view token) {
  if (token.empty()) return text;
  for (size_t at; (at = text.find(token)) != std::string::npos;) text.replace(at, token.size(), "[token]");
  return text;
}

// Returns the reason in a body {"error":{"message"}}, or else the body itself.
std::string ReasonIn(const std::string& body, std::string_view token) {
  wire::Document document;
  const auto json = document.Parse(body);
  const std::string_view message = json ? json->Find("error").Find("message").string().value_or("") : "";
  return ShownExcerpt(Without(std::string(Trimmed(message.empty() ? body : message)), token), kMaxReasonBytes);
}

// Returns the id at the end of the path of a rendezvous; nothing for the path of another server.
std::string_view ExecutorIn(std::string_view target) {
  const std::string_view path = target.substr(0, target.find('?'));
  const size_t at = path.rfind(kExecutors);
  return at == std::string_view::npos ? "" : path.substr(at + kExecutors.size());
}

Error WithoutReason(const transport::WebSocketServer& server, unsigned status, const Error& general) {
  const std::string_view id = ExecutorIn(server.target);
  const std::string name = transport::NameOf(server);
  if (id.empty()) return general;
  switch (status) {
    case 401:
      return {general.kind, fmt::format("the rendezvous at {} does not accept the token", name)};
    case 403:
      return {general.kind, fmt::format("the token may not use the executor {} at {}", id, name)};
    case 404:
      return {ErrorKind::kDisconnected, fmt::format("no executor named {} is connected to {}", id, name)};
    case 502:
    case 503:
      return {ErrorKind::kDisconnected, fmt::format("the executor {} cannot be reached through {} now", id, name)};
    default:
      return general;
  }
}

}  // namespace

bool RefusesToken(const transport::Refusal& refusal) { return refusal.status == 401 || refusal.status == 403; }

Error RefusalError(const transport::WebSocketServer& server, const transport::Refusal& refusal, const Error& general,
                   std::string_view token) {
  Error error = WithoutReason(server, refusal.status, general);
  const std::string reason = ReasonIn(refusal.body, token);
  if (!reason.empty()) error.message += ": " + reason;
  return error;
}

}  // namespace holdfast::client
