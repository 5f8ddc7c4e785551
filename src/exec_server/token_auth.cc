#include "exec_server/token_auth.h"

#include <chrono>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "auth/bearer_token.h"
#include "auth/peer_address.h"
#include "auth/secret_file.h"
#include "base/log.h"

namespace holdfast::exec_server {
namespace {

struct TokenSetting {
  std::string_view flag;
  std::string_view ws_auth;  // the value that it belongs to
  bool is_given;
};

template <typename... Arguments>
std::unexpected<Error> Refuse(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  return Fail(ErrorKind::kInvalidParams, fmt::format(text, std::forward<Arguments>(arguments)...));
}

using std::chrono::seconds;
using transport::HttpRefusal;

constexpr size_t kMinDistinctBytes = 16;

const std::string& FileOf(const Config& config) {
  return config.ws_auth == kSignedBearerToken ? config.ws_shared_secret_file : config.ws_token_file;
}

// A process of another user that has read the secret can run commands.
Result<std::string> ReadSecret(const std::string& file) {
  TRY(auth::FileSecret secret, auth::ReadSecretFile(file));
  if (secret.is_readable_by_everyone) {
    LogWarn("auth.secret_readable", {{"file", file}, {"why", "every user may read the secret (chmod o-r)"}});
  }
  return std::move(secret.text);
}

void LogFailure(const auth::PeerAddress& address, auth::AttemptLimit::Failure failure, auth::Refusal refusal) {
  using Failure = auth::AttemptLimit::Failure;
  const std::string peer = address.text();
  if (failure == Failure::kFirst) LogWarn("auth.refused", {{"address", peer}, {"why", auth::TextOf(refusal)}});
  if (failure == Failure::kReachesLimit) {
    LogWarn("auth.limited", {{"address", peer}, {"failures", auth::AttemptLimit::kMaxFailures}});
  }
}

HttpRefusal HaveToWait(seconds wait) {
  return {.status = HttpRefusal::Status::kTooManyRequests,
          .body = fmt::format("too many failed attempts, wait {} s", wait.count()),
          .retry_after = wait};
}

}  // namespace

bool AsksForToken(const Config& config) {
  return config.ws_auth == kCapabilityToken || config.ws_auth == kSignedBearerToken;
}

Result<> CheckTokenSettings(const Config& config) {
  const TokenSetting settings[] = {
      {"--ws-token-file", kCapabilityToken, !config.ws_token_file.empty()},
      {"--ws-token-sha256", kCapabilityToken, !config.ws_token_sha256.empty()},
      {"--ws-shared-secret-file", kSignedBearerToken, !config.ws_shared_secret_file.empty()},
      {"--ws-issuer", kSignedBearerToken, !config.ws_issuer.empty()},
      {"--ws-audience", kSignedBearerToken, !config.ws_audience.empty()},
      {"--ws-max-clock-skew-seconds", kSignedBearerToken,
       config.ws_max_clock_skew_seconds != Config{}.ws_max_clock_skew_seconds},
  };
  for (const TokenSetting& setting : settings) {
    if (setting.is_given && setting.ws_auth != config.ws_auth) {
      return Refuse("{} needs --ws-auth {}", setting.flag, setting.ws_auth);
    }
  }
  if (config.ws_auth == kSignedBearerToken && config.ws_shared_secret_file.empty()) {
    return Refuse("--ws-auth {} needs --ws-shared-secret-file", kSignedBearerToken);
  }
  if (config.ws_auth != kCapabilityToken) return {};
  if (config.ws_token_file.empty() && config.ws_token_sha256.empty()) {
    return Refuse("--ws-auth {} needs --ws-token-file or --ws-token-sha256", kCapabilityToken);
  }
  if (!config.ws_token_file.empty() && !config.ws_token_sha256.empty()) {
    return Refuse("--ws-token-file and --ws-token-sha256 both name a token; leave one of them out");
  }
  return {};
}

Result<std::shared_ptr<TokenAuth>> TokenAuth::Create(const Config& config) {
  TRY_VOID(CheckTokenSettings(config));
  if (!AsksForToken(config)) return nullptr;
  TRY(Rules rules, ReadRules(config));
  return std::shared_ptr<TokenAuth>(new TokenAuth(config, std::move(rules)));
}

Result<TokenAuth::Rules> TokenAuth::ReadRules(const Config& config) {
  const std::string& file = FileOf(config);
  if (file.empty()) {
    const auto token = auth::CapabilityToken::OfDigest(config.ws_token_sha256);
    if (!token) return Fail(token.error().kind, "--ws-token-sha256: " + token.error().message);
    return Rules{.check = *token};
  }
  TRY(std::string secret, ReadSecret(file));
  if (config.ws_auth == kCapabilityToken) {
    return Rules{.check = auth::CapabilityToken::OfText(secret), .secret = std::move(secret)};
  }
  if (secret.size() < auth::kMinSharedSecretBytes) {
    return Fail(ErrorKind::kInvalidParams, fmt::format("--ws-shared-secret-file {}: the secret has less than {} bytes",
                                                       file, auth::kMinSharedSecretBytes));
  }
  return Rules{.check = auth::SignedTokens{.secret = secret,
                                           .issuer = config.ws_issuer,
                                           .audience = config.ws_audience,
                                           .max_clock_skew = seconds(config.ws_max_clock_skew_seconds)},
               .secret = std::move(secret)};
}

std::optional<HttpRefusal> TokenAuth::Refuse(const transport::Credentials& credentials) {
  const auth::PeerAddress address = auth::PeerAddress::Of(credentials.socket);
  const auto now = auth::AttemptLimit::Clock::now();
  const auto wait = limit_.WaitOf(address, now);
  if (wait && !address.is_loopback()) return HaveToWait(*wait);
  const auto checked = Check(credentials);
  if (checked) return std::nullopt;
  LogFailure(address, limit_.Count(address, now), checked.error());
  if (wait) return HaveToWait(*wait);
  return HttpRefusal{.status = HttpRefusal::Status::kUnauthorized, .body = std::string(auth::TextOf(checked.error()))};
}

auth::Checked<> TokenAuth::Check(const transport::Credentials& credentials) const {
  TRY(const std::string_view token, auth::BearerTokenOf(credentials.authorization));
  if (const auto* capability = std::get_if<auth::CapabilityToken>(&rules_.check)) return capability->Check(token);
  const auto now = std::chrono::floor<seconds>(std::chrono::system_clock::now());
  return std::get<auth::SignedTokens>(rules_.check).Check(token, now);
}

void TokenAuth::Reload() {
  auto rules = ReadRules(config_);
  if (!rules) return LogError("auth.reload_failed", {{"why", rules.error().message}});
  rules_ = *std::move(rules);
  LogInfo("auth.reloaded", {{"file", file()}});
}

const std::string& TokenAuth::file() const { return FileOf(config_); }

std::string TokenAuth::secret() const {
  return rules_.secret.size() >= kMinDistinctBytes ? rules_.secret : std::string();
}

}  // namespace holdfast::exec_server
