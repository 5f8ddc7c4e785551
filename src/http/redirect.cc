#include "http/redirect.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "http/syntax.h"

namespace holdfast::http {
namespace {

constexpr uint16_t kMovedPermanently = 301;
constexpr uint16_t kFound = 302;
constexpr uint16_t kSeeOther = 303;
constexpr uint16_t kTemporaryRedirect = 307;
constexpr uint16_t kPermanentRedirect = 308;

bool BecomesGet(std::string_view method, uint16_t status) {
  if (status == kSeeOther) return method != "HEAD";
  return method == "POST" && (status == kMovedPermanently || status == kFound);
}

bool DescribesBody(const Header& header) { return StartsWithIgnoringCase(header.name, "content-"); }

// Host is not a secret, but it names the server of the first request.
bool IsForOneOrigin(const Header& header) {
  constexpr std::array<std::string_view, 4> kNames = {"authorization", "cookie", "cookie2", "host"};
  return StartsWithIgnoringCase(header.name, "proxy-") ||
         std::ranges::any_of(kNames, [&](std::string_view name) { return EqualsIgnoringCase(name, header.name); });
}

}  // namespace

bool IsRedirect(uint16_t status) {
  return status == kMovedPermanently || status == kFound || status == kSeeOther || status == kTemporaryRedirect ||
         status == kPermanentRedirect;
}

void ApplyRedirect(Request& request, uint16_t status, const Url& from, const Url& to) {
  if (BecomesGet(request.method, status)) {
    request.method = "GET";
    request.body.reset();
    std::erase_if(request.headers, DescribesBody);
    std::erase_if(request.secret_headers, DescribesBody);
  }
  if (!SameOrigin(from, to)) {
    std::erase_if(request.headers, IsForOneOrigin);
    request.secret_headers.clear();
  }
}

}  // namespace holdfast::http
