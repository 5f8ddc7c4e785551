#include "rendezvous/nats/nats_settings.h"

#include <unistd.h>

#include <algorithm>
#include <ranges>
#include <string_view>

namespace holdfast::rendezvous {
namespace {

std::unexpected<Error> Unusable(std::string message) {
  return Fail(ErrorKind::kInvalidParams, "bus over NATS: " + std::move(message));
}

bool IsUrl(std::string_view url) {
  const bool has_scheme = url.starts_with("nats://") || url.starts_with("tls://");
  const std::string_view rest = has_scheme ? url.substr(url.find("://") + 3) : std::string_view();
  return !rest.empty() && std::ranges::all_of(rest, [](char c) { return c > ' ' && c < '\x7f'; });
}

bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

bool IsWord(std::string_view text) { return !text.empty() && std::ranges::all_of(text, IsWordCharacter); }

}  // namespace

Result<std::vector<std::string>> CheckedUrls(const NatsSettings& settings) {
  std::vector<std::string> urls;
  for (const auto part : std::views::split(settings.url, ',')) {
    urls.emplace_back(part.begin(), part.end());
    if (!IsUrl(urls.back())) return Unusable("a URL does not begin with nats:// or tls://, or has no host");
  }
  if (urls.empty()) return Unusable("there is no URL");
  if (!IsWord(settings.bucket)) return Unusable("the bucket's name may have letters, digits, _ and -");
  const std::string& file = settings.credentials_file;
  if (!file.empty() && ::access(file.c_str(), R_OK) != 0) return FailErrno("open", file);
  return urls;
}

}  // namespace holdfast::rendezvous
