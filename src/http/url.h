// An http or https URL, taken apart strictly: what two programs could read differently before the path (a backslash, a
// second @, percent signs in a host) is refused, so that the host which is checked is the host which is asked.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::http {

struct Url {
  std::string scheme;                   // "http" or "https"
  std::optional<std::string> userinfo;  // as written, percent signs and all
  std::string host;                     // lower case; an IPv6 address in its brackets
  uint16_t port = 0;                    // the scheme's own when none is written
  std::string path;                     // begins with '/'
  std::string query;                    // with its '?', or empty

  // Without the userinfo.
  std::string Text() const;
  // For messages: without the query too, which may hold secrets, and not longer than a line or two.
  std::string Shown() const;
};

bool SameOrigin(const Url& a, const Url& b);

struct UrlFault {
  enum class Kind { kInvalid, kScheme };

  Kind kind;
  std::string text;  // what is wrong, or the scheme
};

// Blanks around the text and a fragment are dropped; blanks, quotes and bytes beyond ASCII in path and query are
// percent-encoded.
std::expected<Url, UrlFault> ParseUrl(std::string_view text);

// What a Location means at `base`.
std::expected<Url, UrlFault> ResolveUrl(const Url& base, std::string_view reference);

std::string PercentDecoded(std::string_view text);

}  // namespace holdfast::http
