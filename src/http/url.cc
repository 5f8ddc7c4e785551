#include "http/url.h"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/parse_number.h"
#include "http/syntax.h"

namespace holdfast::http {
namespace {

constexpr size_t kMaxShownBytes = 200;
constexpr uint16_t kHttpPort = 80;
constexpr uint16_t kHttpsPort = 443;

// The characters that browsers encode, so that a URL copied from a browser means the same here.
constexpr std::string_view kEncodedInPath = " \"<>`{}";
constexpr std::string_view kEncodedInQuery = " \"<>'";

std::unexpected<UrlFault> Invalid(std::string_view reason) {
  return std::unexpected(UrlFault{UrlFault::Kind::kInvalid, std::string(reason)});
}

uint16_t DefaultPort(std::string_view scheme) { return scheme == "https" ? kHttpsPort : kHttpPort; }

std::string Lower(std::string_view text) {
  std::string lower(text.size(), '\0');
  std::ranges::transform(text, lower.begin(), AsciiLower);
  return lower;
}

bool IsSchemeByte(char c) { return IsAlphanumeric(c) || c == '+' || c == '-' || c == '.'; }
bool IsHostByte(char c) { return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.'; }
bool IsAddressByte(char c) { return IsHexDigit(c) || c == ':' || c == '.'; }
bool IsUserinfoByte(char c) { return IsAlphanumeric(c) || std::string_view("-._~!$&'()*+,;=:%").contains(c); }

// Returns the length of the scheme before a ':', and 0 if `text` has none.
size_t SchemeLength(std::string_view text) {
  const auto length = static_cast<size_t>(std::ranges::find_if_not(text, IsSchemeByte) - text.begin());
  if (length == 0 || length == text.size() || text[length] != ':') return 0;
  return IsAlphabetic(text[0]) ? length : 0;
}

// Returns the length of the host that `text` begins with, including the brackets of an IPv6 address, and 0 if a bracket
// is not closed.
size_t HostLength(std::string_view text) {
  if (!text.starts_with('[')) return std::min(text.find(':'), text.size());
  const size_t bracket = text.find(']');
  return bracket == std::string_view::npos ? 0 : bracket + 1;
}

bool IsHost(std::string_view host) {
  if (!host.starts_with('[')) return std::ranges::all_of(host, IsHostByte);
  const std::string_view address = host.substr(1, host.size() - 2);
  return address.contains(':') && std::ranges::all_of(address, IsAddressByte);
}

// `text` is empty, or begins with ':'.
std::expected<uint16_t, UrlFault> ParsePort(std::string_view text, std::string_view scheme) {
  if (text.size() <= 1) return DefaultPort(scheme);
  const auto port = ParseNumber<uint16_t>(text.substr(1));
  if (!port) return Invalid("invalid port number");
  return *port;
}

std::expected<void, UrlFault> ParseAuthority(std::string_view authority, Url& url) {
  if (const size_t at = authority.find('@'); at != std::string_view::npos) {
    url.userinfo = authority.substr(0, at);
    if (!std::ranges::all_of(*url.userinfo, IsUserinfoByte)) return Invalid("invalid user or password");
    authority.remove_prefix(at + 1);
  }
  const std::string_view host = authority.substr(0, HostLength(authority));
  const std::string_view rest = authority.substr(host.size());
  if (host.empty()) return Invalid(authority.starts_with('[') ? "invalid IPv6 address" : "empty host");
  if (!IsHost(host) || (!rest.empty() && rest[0] != ':')) return Invalid("invalid host");
  const auto port = ParsePort(rest, url.scheme);
  if (!port) return std::unexpected(port.error());
  url.host = Lower(host);
  url.port = *port;
  return {};
}

std::string Encoded(std::string_view text, std::string_view encoded_bytes) {
  std::string encoded;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80 || encoded_bytes.contains(c)) {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      encoded += c;
    }
  }
  return encoded;
}

}  // namespace

std::string Url::Text() const {
  const std::string port_text = port == DefaultPort(scheme) ? "" : fmt::format(":{}", port);
  return fmt::format("{}://{}{}{}{}", scheme, host, port_text, path, query);
}

std::string Url::Shown() const {
  Url shown = *this;
  shown.query.clear();
  std::string text = shown.Text();
  if (text.size() <= kMaxShownBytes) return text;
  return text.substr(0, kMaxShownBytes) + "...";
}

bool SameOrigin(const Url& a, const Url& b) { return a.scheme == b.scheme && a.host == b.host && a.port == b.port; }

std::expected<Url, UrlFault> ParseUrl(std::string_view text) {
  text = Trimmed(text);
  if (std::ranges::any_of(text, IsControl)) return Invalid("control character");
  Url url;
  url.scheme = Lower(text.substr(0, SchemeLength(text)));
  if (url.scheme.empty()) return Invalid("relative URL without a base");
  if (url.scheme != "http" && url.scheme != "https") {
    return std::unexpected(UrlFault{UrlFault::Kind::kScheme, url.scheme.substr(0, kMaxShownBytes)});
  }
  text.remove_prefix(url.scheme.size() + 1);
  if (!text.starts_with("//")) return Invalid("empty host");
  text = text.substr(2, text.find('#') - 2);
  const std::string_view authority = text.substr(0, text.find_first_of("/?"));
  if (const auto parsed = ParseAuthority(authority, url); !parsed) return std::unexpected(parsed.error());
  text.remove_prefix(authority.size());
  const std::string_view path = text.substr(0, text.find('?'));
  url.path = path.empty() ? "/" : Encoded(path, kEncodedInPath);
  url.query = Encoded(text.substr(path.size()), kEncodedInQuery);
  return url;
}

// Dot segments stay in the path, because the library removes them from every path.
std::expected<Url, UrlFault> ResolveUrl(const Url& base, std::string_view reference) {
  const std::string target(Trimmed(reference));
  if (SchemeLength(target) > 0) return ParseUrl(target);
  if (target.starts_with("//")) return ParseUrl(base.scheme + ":" + target);
  if (target.empty() || target.starts_with('#')) return ParseUrl(base.Text());
  Url origin = base;
  origin.path.clear();
  origin.query.clear();
  if (target.starts_with('/')) return ParseUrl(origin.Text() + target);
  if (target.starts_with('?')) return ParseUrl(origin.Text() + base.path + target);
  return ParseUrl(origin.Text() + base.path.substr(0, base.path.rfind('/') + 1) + target);
}

}  // namespace holdfast::http
