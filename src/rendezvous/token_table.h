// The tokens that a rendezvous accepts, as its TOML file lists them: which tokens offer executors, and which use them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace holdfast::rendezvous {

// An id may have * for any text, also none.
class IdPattern {
 public:
  explicit IdPattern(std::string text) : text_(std::move(text)) {}
  bool Matches(std::string_view id) const;

 private:
  std::string text_;
};

struct TokenRights {
  enum class Role { kExecutor, kClient };

  Role role;
  std::string name;          // for logs; the beginning of the digest if the file has none
  std::string token_sha256;  // in lower case
  std::vector<IdPattern> ids;
  size_t max_connections;  // at one time, on one node

  bool Allows(std::string_view id) const;
};

class TokenTable {
 public:
  // Parses the text of a file. Unknown keys, repeated digests and empty lists are errors, which name the line.
  static Result<TokenTable> Parse(std::string_view text, std::string_view file_name);

  // Returns the rights of a token; null if it is not in the table. The time tells nothing about the tokens, because
  // digests are looked up.
  const TokenRights* OfToken(std::string_view token, TokenRights::Role role) const;
  const TokenRights* OfDigest(std::string_view sha256, TokenRights::Role role) const;

 private:
  std::map<std::string, TokenRights, std::less<>> by_digest_;
};

}  // namespace holdfast::rendezvous
