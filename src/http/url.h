// An http or https URL, parsed strictly. Before the path, anything that two programs could read differently (a
// backslash, a second @, percent signs in a host) is refused, so that the host that is checked is the host that is
// contacted.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::http {

struct Url {
  std::string scheme;                   // "http" or "https"
  std::optional<std::string> userinfo;  // as written, not percent-decoded
  std::string host;                     // lower case; an IPv6 address in its brackets
  uint16_t port = 0;                    // the default of the scheme if none is written
  std::string path;                     // begins with '/'
  std::string query;                    // with its '?', or empty

  // Returns the URL without the userinfo.
  std::string Text() const;
  // Returns the URL for messages: without the userinfo, without the query, which may contain secrets, and at most a
  // line or two long.
  std::string Shown() const;
};

bool SameOrigin(const Url& a, const Url& b);

struct UrlFault {
  enum class Kind { kInvalid, kScheme };

  Kind kind;
  std::string text;  // what is wrong, or the scheme
};

// Parses a URL. Blanks around the text and a fragment are dropped; blanks, quotes and bytes beyond ASCII in the path
// and the query are percent-encoded.
std::expected<Url, UrlFault> ParseUrl(std::string_view text);

// Returns the URL that a Location stands for in a response from `base`.
std::expected<Url, UrlFault> ResolveUrl(const Url& base, std::string_view reference);

}  // namespace holdfast::http
