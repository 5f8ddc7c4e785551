#include "rendezvous/token_table.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/sha256.h"
#include "base/toml_file.h"

namespace holdfast::rendezvous {
namespace {

using Role = TokenRights::Role;

constexpr size_t kDigestDigits = 64;
constexpr size_t kShownDigits = 8;
constexpr size_t kDefaultMaxConnections = 1024;
constexpr size_t kMaxNameBytes = 256;

bool IsHexDigit(char c) { return (c >= '0' && c <= '9') || (AsciiLower(c) >= 'a' && AsciiLower(c) <= 'f'); }

std::unexpected<Error> Fault(const toml::node& node, std::string_view file, std::string_view reason) {
  return Fail(ErrorKind::kInvalidParams, fmt::format("tokens {}:{}: {}", file, node.source().begin.line, reason));
}

// A reader of one entry of the file. Each function sets the member that its key is about.
struct EntryReader {
  std::string_view file;
  TokenRights rights;

  Result<> ReadDigest(const toml::node& node) {
    const auto text = node.value_exact<std::string>();
    if (!text || text->size() != kDigestDigits || !std::ranges::all_of(*text, IsHexDigit)) {
      return Fault(node, file, fmt::format("token_sha256 has to be {} hexadecimal digits", kDigestDigits));
    }
    rights.token_sha256 = *text;
    std::ranges::transform(rights.token_sha256, rights.token_sha256.begin(), AsciiLower);
    return {};
  }

  Result<> ReadIds(const toml::node& node) {
    const toml::array* const ids = node.as_array();
    if (ids == nullptr || ids->empty()) return Fault(node, file, "ids has to be a list of patterns, with one at least");
    for (const toml::node& id : *ids) {
      auto pattern = id.value_exact<std::string>();
      if (!pattern || pattern->empty()) return Fault(id, file, "each of ids has to be a text such as \"build-*\"");
      rights.ids.emplace_back(*std::move(pattern));
    }
    return {};
  }

  Result<> ReadName(const toml::node& node) {
    const auto name = node.value_exact<std::string>();
    if (!name || name->empty() || name->size() > kMaxNameBytes) {
      return Fault(node, file, fmt::format("name has to be a text of 1 to {} bytes", kMaxNameBytes));
    }
    rights.name = *name;
    return {};
  }

  Result<> ReadMaxConnections(const toml::node& node) {
    const auto count = node.value_exact<int64_t>();
    if (!count || *count < 1 || *count > std::numeric_limits<int32_t>::max()) {
      return Fault(node, file, "max_connections has to be a number of 1 or more");
    }
    rights.max_connections = static_cast<size_t>(*count);
    return {};
  }
};

struct Key {
  std::string_view name;
  Result<> (EntryReader::*read)(const toml::node& node);
};
constexpr auto kKeys = std::to_array<Key>({
    {"token_sha256", &EntryReader::ReadDigest},
    {"ids", &EntryReader::ReadIds},
    {"name", &EntryReader::ReadName},
    {"max_connections", &EntryReader::ReadMaxConnections},
});

Result<TokenRights> ReadEntry(const toml::node& node, Role role, std::string_view file) {
  const toml::table* const entry = node.as_table();
  if (entry == nullptr) return Fault(node, file, "an entry has to be a table");
  EntryReader reader{
      .file = file,
      .rights = {.role = role, .name = {}, .token_sha256 = {}, .ids = {}, .max_connections = kDefaultMaxConnections}};
  for (const auto& [key, value] : *entry) {
    const auto* const found = std::ranges::find(kKeys, key.str(), &Key::name);
    if (found == kKeys.end()) return Fault(value, file, fmt::format("unknown key \"{}\"", key.str()));
    TRY_VOID((reader.*found->read)(value));
  }
  if (reader.rights.token_sha256.empty()) return Fault(node, file, "the entry has no token_sha256");
  if (reader.rights.ids.empty()) return Fault(node, file, "the entry has no ids");
  if (reader.rights.name.empty()) reader.rights.name = reader.rights.token_sha256.substr(0, kShownDigits);
  return std::move(reader.rights);
}

std::optional<Role> RoleOf(std::string_view key) {
  if (key == "executor") return Role::kExecutor;
  if (key == "client") return Role::kClient;
  return std::nullopt;
}

}  // namespace

// After a mismatch, the last star takes one more character, and the comparison goes on behind it.
bool IdPattern::Matches(std::string_view id) const {
  size_t at = 0, compared = 0;
  std::optional<size_t> star;
  size_t star_end = 0;  // the end of the text that the star stands for
  while (compared < id.size()) {
    if (at < text_.size() && text_[at] == '*') {
      star = at++;
      star_end = compared;
    } else if (at < text_.size() && text_[at] == id[compared]) {
      ++at, ++compared;
    } else if (star) {
      at = *star + 1;
      compared = ++star_end;
    } else {
      return false;
    }
  }
  return text_.find_first_not_of('*', at) == std::string::npos;
}

bool TokenRights::Allows(std::string_view id) const {
  return std::ranges::any_of(ids, [id](const IdPattern& pattern) { return pattern.Matches(id); });
}

Result<TokenTable> TokenTable::Parse(std::string_view text, std::string_view file_name) {
  TRY(const toml::table file, ParseToml(text, "tokens", file_name));
  TokenTable table;
  for (const auto& [key, value] : file) {
    const auto role = RoleOf(key.str());
    if (!role) return Fault(value, file_name, fmt::format("unknown key \"{}\"", key.str()));
    const toml::array* const entries = value.as_array();
    if (entries == nullptr) return Fault(value, file_name, fmt::format("write [[{}]] before each entry", key.str()));
    for (const toml::node& entry : *entries) {
      TRY(TokenRights rights, ReadEntry(entry, *role, file_name));
      std::string digest = rights.token_sha256;
      if (!table.by_digest_.emplace(std::move(digest), std::move(rights)).second) {
        return Fault(entry, file_name, "the token_sha256 of this entry is in another one too");
      }
    }
  }
  // An editor that writes a file in place makes it empty first, and the tokens must not end because of that.
  if (table.by_digest_.empty()) {
    return Fail(ErrorKind::kInvalidParams, fmt::format("tokens {}: the file has no entry", file_name));
  }
  return table;
}

const TokenRights* TokenTable::OfToken(std::string_view token, Role role) const {
  return OfDigest(Sha256Hex(token), role);
}

const TokenRights* TokenTable::OfDigest(std::string_view sha256, Role role) const {
  const auto found = by_digest_.find(sha256);
  return found != by_digest_.end() && found->second.role == role ? &found->second : nullptr;
}

}  // namespace holdfast::rendezvous
