#include "remote/registration.h"

#include <algorithm>
#include <array>
#include <optional>
#include <variant>

#include <fmt/format.h>

#include "base/shown_text.h"
#include "base/utf8.h"
#include "http/syntax.h"
#include "http/url.h"
#include "wire/decode.h"

namespace holdfast::remote {
namespace {

using Kind = RegistryFailure::Kind;

constexpr size_t kMaxShownCharacters = 4096;
constexpr std::string_view kManyConnections = "many";

struct ExecutorAnswer {
  std::string id, executor_id, url;
  std::optional<std::string> connections = {};

  void Fields(auto& f) {
    f.Required("id", id);
    f.Required("executor_id", executor_id);
    f.Required("url", url);
    f.Optional("connections", connections);
  }
  Registration ToRegistration() const { return {.registration_id = id, .id = executor_id, .url = url}; }
};

struct DirectAnswer {
  std::string environment_id, transport, registration_id, url;
  std::optional<std::string> connections = {};

  void Fields(auto& f) {
    f.Required("environment_id", environment_id);
    f.Required("transport", transport);
    f.Required("registration_id", registration_id);
    f.Required("url", url);
    f.Optional("connections", connections);
  }
  Registration ToRegistration() const { return {.registration_id = registration_id, .id = environment_id, .url = url}; }
};

struct Reason {
  uint16_t status;
  std::string_view phrase;
};
// The phrases that the registry of HTTP status codes has for errors and redirects.
constexpr auto kReasons = std::to_array<Reason>({
    {300, "Multiple Choices"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {407, "Proxy Authentication Required"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Payload Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Entity"},
    {423, "Locked"},
    {425, "Too Early"},
    {426, "Upgrade Required"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {451, "Unavailable For Legal Reasons"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
    {508, "Loop Detected"},
    {511, "Network Authentication Required"},
});

std::string StatusText(uint16_t status) {
  const auto* found = std::ranges::find(kReasons, status, &Reason::status);
  return fmt::format("{} {}", status, found == kReasons.end() ? "<unknown status code>" : found->phrase);
}

std::string Without(std::string_view text, std::string_view token) {
  std::string rest;
  while (!token.empty()) {
    const size_t at = text.find(token);
    if (at == std::string_view::npos) break;
    rest.append(text.substr(0, at)).append("[token]");
    text.remove_prefix(at + token.size());
  }
  return rest.append(text);
}

struct Complaint {
  std::string code, message;
};

std::string ShownBeginning(std::string_view text) {
  size_t bytes = 0;
  for (size_t characters = 0; bytes < text.size() && characters < kMaxShownCharacters; ++characters) {
    bytes += std::max<size_t>(Utf8Length(text.substr(bytes)), 1);
  }
  return ShownText(text.substr(0, bytes));
}

// Returns the words of the registry about its refusal; an empty message if it has none.
Complaint ComplaintIn(std::string_view body, std::string_view token) {
  Complaint complaint;
  std::string message;
  wire::Document document;
  if (const auto json = document.Parse(body); json) {
    const wire::Json error = json->Find("error");
    complaint.code = ShownBeginning(Without(error.Find("code").string().value_or(""), token));
    message = http::Trimmed(error.Find("message").string().value_or(""));
  }
  if (message.empty()) message = http::Trimmed(body);
  complaint.message = ShownBeginning(Without(message, token));
  return complaint;
}

RegistryFailure Refusal(Form form, const RegistryAnswer& answer, std::string_view token) {
  const Complaint complaint = ComplaintIn(answer.body, token);
  const std::string_view noun = NounOf(form);
  const std::string status = StatusText(answer.status);
  if (answer.status == 401 || answer.status == 403) {
    const std::string& message = complaint.message.empty() ? "empty error body" : complaint.message;
    return Unauthenticated(form, fmt::format("{} registry authentication failed ({}): {}", noun, status, message));
  }
  const std::string code = complaint.code.empty() ? "" : ", " + complaint.code;
  const std::string& message = complaint.message.empty() ? "empty or malformed error body" : complaint.message;
  return {answer.status >= 500 ? Kind::kUnavailable : Kind::kRefused,
          fmt::format("{} registry request failed ({}{}): {}", noun, status, code, message)};
}

// Returns the fault of an answer to a direct registration; empty if there is none.
std::string_view FaultOf(const DirectAnswer& answer, const Registrant& registrant) {
  if (answer.environment_id != registrant.id) return "the response is about another environment";
  if (answer.transport != kDirectTransport) return "the response names another transport";
  return {};
}
std::string_view FaultOf(const ExecutorAnswer&, const Registrant&) { return {}; }

template <typename Answer>
std::expected<Registration, RegistryFailure> Decoded(const Registrant& registrant, std::string_view body) {
  wire::Document document;
  const auto json = document.Parse(body);
  if (!json) return std::unexpected(Undecodable(registrant));
  const auto answer = wire::Decode<Answer>(*json);
  if (!answer) return std::unexpected(Undecodable(registrant));
  if (const std::string_view fault = FaultOf(*answer, registrant); !fault.empty()) {
    return std::unexpected(
        RegistryFailure{Kind::kRefused, fmt::format("{} registry request failed: {}", NounOf(registrant.form), fault)});
  }
  Registration registration = answer->ToRegistration();
  if (answer->connections == kManyConnections) registration.connections = Connections::kMany;
  return registration;
}

}  // namespace

std::expected<Registration, RegistryFailure> ReadAnswer(const Registrant& registrant, const RegistryAnswer& answer,
                                                        std::string_view token) {
  if (answer.status < 200 || answer.status > 299) return std::unexpected(Refusal(registrant.form, answer, token));
  if (registrant.form == Form::kDirect) return Decoded<DirectAnswer>(registrant, answer.body);
  return Decoded<ExecutorAnswer>(registrant, answer.body);
}

RegistryFailure Unreachable(const Registrant& registrant) {
  const http::Request request = RegistrationRequest(registrant, {}, "");
  const auto url = http::ParseUrl(request.url);
  return {Kind::kUnavailable, fmt::format("{} registry request failed: error sending request for url ({})",
                                          NounOf(registrant.form), url ? url->Shown() : "")};
}

RegistryFailure Undecodable(const Registrant& registrant) {
  return {Kind::kRefused,
          fmt::format("{} registry request failed: error decoding response body", NounOf(registrant.form))};
}

RegistryFailure Unauthenticated(Form form, std::string_view reason) {
  return {Kind::kRefused, fmt::format("{} registry authentication error: {}", NounOf(form), reason)};
}

Result<transport::ServerUrl> RendezvousServer(const Registration& registration) {
  TRY(transport::ServerUrl server, transport::ParseServerUrl(registration.url));
  // A registry must not be able to point the executor at a socket of its own machine.
  if (!std::holds_alternative<transport::WebSocketServer>(server) || registration.url.starts_with("http")) {
    return Fail(ErrorKind::kInvalidParams, "the URL of the rendezvous is neither ws nor wss");
  }
  return server;
}

}  // namespace holdfast::remote
