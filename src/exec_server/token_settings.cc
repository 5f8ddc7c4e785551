#include "exec_server/token_settings.h"

#include <string_view>

#include <fmt/format.h>

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

}  // namespace holdfast::exec_server
