#include "sandbox/glob_match.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace holdfast::sandbox {
namespace {

using Kind = NameToken::Kind;

constexpr char32_t kLastCharacter = 0x10ffff;

// The length that the first byte of a character announces; 0 for a byte that cannot be first.
size_t AnnouncedLength(uint8_t first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

// Matches `items` against `pattern`, in which a run stands for any number of items and everything else for one. Going
// back to the last run is enough: what an earlier one could take as well, the last one can take.
template <typename Pattern, typename Items, typename IsRun, typename MatchesOne>
bool MatchesSequence(const Pattern& pattern, const Items& items, IsRun is_run, MatchesOne matches_one) {
  size_t step = 0, item = 0, items_of_run = 0;
  std::optional<size_t> behind_run;
  while (item < items.size()) {
    if (step < pattern.size() && is_run(pattern[step])) {
      behind_run = ++step;
      items_of_run = item;
    } else if (step < pattern.size() && matches_one(pattern[step], items[item])) {
      ++step;
      ++item;
    } else if (behind_run) {
      step = *behind_run;
      item = ++items_of_run;
    } else {
      return false;
    }
  }
  while (step < pattern.size() && is_run(pattern[step])) ++step;
  return step == pattern.size();
}

bool IsInRanges(const NameToken& token, char32_t c) {
  return std::ranges::any_of(token.ranges, [c](CharacterRange range) { return range.first <= c && c <= range.last; });
}

bool MatchesCharacter(const NameToken& token, char32_t c) {
  switch (token.kind) {
    case Kind::kLiteral:
      return token.literal == c;
    case Kind::kAnyCharacter:
      return true;
    case Kind::kOneOf:
      return IsInRanges(token, c);
    case Kind::kNoneOf:
      return !IsInRanges(token, c);
    case Kind::kAnyRun:
      return false;
  }
  return false;
}

bool MatchesName(const NamePattern& pattern, std::string_view name) {
  std::u32string characters;
  for (size_t at = 0; at < name.size();) characters += TakeCharacter(name, at);
  return MatchesSequence(
      pattern, characters, [](const NameToken& token) { return token.kind == Kind::kAnyRun; }, MatchesCharacter);
}

std::vector<std::string_view> NamesOf(std::string_view path) {
  std::vector<std::string_view> names;
  for (size_t start = 0; start <= path.size();) {
    const size_t end = std::min(path.find('/', start), path.size());
    names.push_back(path.substr(start, end - start));
    start = end + 1;
  }
  return names;
}

// Only as far as characters are single bytes.
std::string LiteralTail(const NamePattern& pattern) {
  std::string tail;
  for (auto token = pattern.rbegin(); token != pattern.rend(); ++token) {
    if (token->kind != Kind::kLiteral || token->literal >= 0x80) break;
    tail.insert(tail.begin(), static_cast<char>(token->literal));
  }
  return tail;
}

}  // namespace

char32_t TakeCharacter(std::string_view text, size_t& at) {
  const auto first = static_cast<uint8_t>(text[at]);
  const size_t length = AnnouncedLength(first);
  const char32_t lone_byte = kLastCharacter + 1 + first;
  if (length <= 1 || at + length > text.size()) {
    ++at;
    return length == 1 ? first : lone_byte;
  }
  char32_t character = first & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<uint8_t>(text[at + i]);
    if ((byte & 0xc0) != 0x80) {
      ++at;
      return lone_byte;
    }
    character = character << 6 | (byte & 0x3f);
  }
  at += length;
  return character;
}

Glob::Glob(std::vector<std::optional<NamePattern>> steps)
    : steps_(std::move(steps)), tail_(LiteralTail(*steps_.back())) {}

bool Glob::Matches(std::string_view path) const {
  if (!path.ends_with(tail_)) return false;
  return MatchesSequence(
      steps_, NamesOf(path), [](const std::optional<NamePattern>& step) { return !step.has_value(); },
      [](const std::optional<NamePattern>& step, std::string_view name) { return MatchesName(*step, name); });
}

std::optional<size_t> Glob::depth() const {
  const bool fixed = std::ranges::all_of(steps_, [](const auto& step) { return step.has_value(); });
  return fixed ? std::optional(steps_.size()) : std::nullopt;
}

}  // namespace holdfast::sandbox
