#include "rendezvous/public_url.h"

#include <utility>

#include <fmt/format.h>

#include "base/percent.h"
#include "http/url.h"

namespace holdfast::rendezvous {
namespace {

bool IsHost(std::string_view text) {
  if (text.find_first_of(" \t/?#\\") != std::string_view::npos) return false;
  const auto url = http::ParseUrl(fmt::format("http://{}/", text));
  return url && !url->userinfo;
}

std::string_view HostIn(const transport::HttpMessage& request) {
  const auto hosts = request.HeaderValues("Host");
  return hosts.size() == 1 && IsHost(hosts.front()) ? hosts.front() : std::string_view();
}

}  // namespace

Result<PublicUrl> PublicUrl::Parse(std::string_view text) {
  const auto url = http::ParseUrl(text);
  if (!url || url->userinfo || !url->query.empty()) {
    return Fail(ErrorKind::kInvalidParams,
                fmt::format("--public-url {}: expected an http or https URL such as https://rv.example.org", text));
  }
  const std::string shown = url->Text();
  std::string fixed = shown.substr(url->scheme.size() + 3);  // behind ://
  fixed.resize(fixed.find_last_not_of('/') + 1);
  return PublicUrl(url->scheme == "https" ? "wss" : "ws", std::move(fixed), {});
}

PublicUrl PublicUrl::OfRequests(transport::Security security, std::string bound) {
  return {security == transport::Security::kTls ? "wss" : "ws", {}, std::move(bound)};
}

std::string PublicUrl::ForExecutor(const transport::HttpMessage& request, std::string_view id,
                                   std::string_view ticket) const {
  std::string_view host = fixed_.empty() ? HostIn(request) : std::string_view(fixed_);
  if (host.empty()) host = bound_;
  return fmt::format("{}://{}/rendezvous/{}?ticket={}", scheme_, host, PercentEncoded(id), ticket);
}

}  // namespace holdfast::rendezvous
