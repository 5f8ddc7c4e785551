#include "remote/registrant.h"

#include <charconv>
#include <chrono>
#include <cstdint>
#include <span>

#include <fmt/format.h>

#include "base/random_id.h"
#include "base/sha256.h"
#include "http/syntax.h"
#include "http/url.h"
#include "wire/encode.h"

namespace holdfast::remote {
namespace {

constexpr std::string_view kIdempotencyVersion = "codex-exec-server-v1";

// The name of a registry may have the addresses of several machines. One that is switched off must not hold the
// executor up for so long that its clients give up.
constexpr std::chrono::milliseconds kConnectTimeout(10'000);

struct ExecutorBody {
  std::string idempotency_id, executor_id, name;
  wire::StringMap labels = {}, metadata = {};

  void Fields(auto& f) {
    f.Required("idempotency_id", idempotency_id);
    f.Required("executor_id", executor_id);
    f.Required("name", name);
    f.Required("labels", labels);
    f.Required("metadata", metadata);
  }
};

struct DirectBody {
  std::string transport = kDirectTransport;

  void Fields(auto& f) { f.Required("transport", transport); }
};

std::unexpected<Error> Unconfigured(Form form, std::string_view fault) {
  return Fail(ErrorKind::kInvalidParams, fmt::format("{} registry configuration error: {}", NounOf(form), fault));
}

// Returns the id as one segment of a path.
std::string PathSegment(std::string_view id) {
  constexpr std::string_view kPlain = "-._~!$&'()*+,;=:@";
  std::string segment;
  for (const char c : id) {
    if (http::IsAlphanumeric(c) || kPlain.contains(c)) {
      segment += c;
    } else {
      segment += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return segment;
}

std::string PathOf(const Registrant& registrant) {
  return fmt::format("/cloud/{}/{}{}/register", NounOf(registrant.form), PathSegment(registrant.id),
                     registrant.form == Form::kDirect ? "/direct" : "");
}

Result<> CheckId(const Registrant& registrant) {
  const std::string_view noun = NounOf(registrant.form);
  if (registrant.id.empty()) {
    return Unconfigured(registrant.form, fmt::format("{} id is required for remote exec-server registration", noun));
  }
  // A URL with one of these segments is another URL.
  if (registrant.id == "." || registrant.id == "..") {
    return Unconfigured(registrant.form, fmt::format("{} id must not be {}", noun, registrant.id));
  }
  return {};
}

Result<> CheckUrl(const Registrant& registrant) {
  const std::string_view noun = NounOf(registrant.form);
  if (registrant.registry_url.empty()) {
    return Unconfigured(registrant.form, fmt::format("{} registry base URL is required", noun));
  }
  const auto url = http::ParseUrl(registrant.registry_url);
  if (!url || url->userinfo || !url->query.empty()) {
    return Unconfigured(registrant.form,
                        fmt::format("{} registry base URL must be http://HOST or https://HOST, with a path if the "
                                    "registry has one, and without a user, a password or a query",
                                    noun));
  }
  return {};
}

}  // namespace

std::string_view NounOf(Form form) { return form == Form::kExecutor ? "executor" : "environment"; }

Result<Registrant> Checked(Registrant registrant) {
  registrant.id = http::Trimmed(registrant.id);
  registrant.registry_url = http::Trimmed(registrant.registry_url);
  while (registrant.registry_url.ends_with('/')) registrant.registry_url.pop_back();
  TRY_VOID(CheckId(registrant));
  TRY_VOID(CheckUrl(registrant));
  return registrant;
}

ProcessUuid RandomProcessUuid() {
  std::string digits = RandomUuid();
  std::erase(digits, '-');
  ProcessUuid uuid{};
  for (size_t i = 0; i < uuid.size(); ++i) {
    uint8_t value = 0;
    (void)std::from_chars(&digits[2 * i], &digits[2 * i] + 2, value, 16);  // RandomUuid returns hexadecimal digits
    uuid[i] = std::byte{value};
  }
  return uuid;
}

std::string IdempotencyId(const Registrant& registrant, const ProcessUuid& uuid) {
  constexpr std::string_view kSeparator("\0", 1);
  Sha256 digest;
  for (const std::string_view part : {std::string_view(registrant.id), kSeparator, std::string_view(registrant.name),
                                      kSeparator, kIdempotencyVersion, kSeparator}) {
    digest.Update(std::as_bytes(std::span(part)));
  }
  digest.Update(uuid);
  return "codex-exec-server-" + digest.HexDigest();
}

http::Request RegistrationRequest(const Registrant& registrant, const ProcessUuid& uuid, std::string_view token) {
  http::Request request;
  request.method = "POST";
  request.url = registrant.registry_url + PathOf(registrant);
  request.headers = {{"content-type", "application/json"}};
  request.secret_headers = {{"authorization", fmt::format("Bearer {}", token)}};
  request.redirects = http::Redirects::kStop;
  request.connect_timeout = kConnectTimeout;
  if (registrant.form == Form::kDirect) {
    request.body = wire::Encode(DirectBody{});
  } else {
    request.body = wire::Encode(ExecutorBody{
        .idempotency_id = IdempotencyId(registrant, uuid), .executor_id = registrant.id, .name = registrant.name});
  }
  return request;
}

}  // namespace holdfast::remote
