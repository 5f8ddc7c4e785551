#include "sandbox/policy/glob_match.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace holdfast::sandbox {
namespace {

using Kind = NameToken::Kind;

constexpr char32_t kLastCharacter = 0x10ffff;

// Returns the length of the UTF-8 character that begins with this byte, or 0 if no character begins with it.
size_t AnnouncedLength(uint8_t first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return first >= 0xf0 && first < 0xf5 ? 4 : 0;
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

bool IsRun(const NamePattern& pattern, size_t token) {
  return token < pattern.size() && pattern[token].kind == Kind::kAnyRun;
}

// After a mismatch the search goes back to the last `*` only: whatever an earlier `*` could match in addition, the last
// one can match as well.
bool MatchesName(const NamePattern& pattern, std::string_view name) {
  size_t token = 0, at = 0, behind_taken = 0;
  std::optional<size_t> behind_run;
  while (at < name.size()) {
    size_t next = at;
    if (IsRun(pattern, token)) {
      behind_run = ++token;
      behind_taken = at;
    } else if (token < pattern.size() && MatchesCharacter(pattern[token], TakeCharacter(name, next))) {
      ++token;
      at = next;
    } else if (behind_run) {
      TakeCharacter(name, behind_taken);
      token = *behind_run;
      at = behind_taken;
    } else {
      return false;
    }
  }
  while (IsRun(pattern, token)) ++token;
  return token == pattern.size();
}

// Returns the literal characters that the pattern ends with, as far back as they are ASCII: these are single bytes.
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
  Position position = Start(), entered;
  for (size_t slash; (slash = path.find('/')) != std::string_view::npos; path.remove_prefix(slash + 1)) {
    Enter(position, path.substr(0, slash), entered);
    position.swap(entered);
  }
  return MatchesAt(position, path);
}

Glob::Position Glob::Start() const {
  Position position;
  Add(position, 0);
  return position;
}

// Fills `entered` instead of returning it, because a walk of many directories would spend much of its time on memory.
void Glob::Enter(const Position& position, std::string_view directory, Position& entered) const {
  entered.clear();
  for (const size_t step : position) {
    const bool is_last = step + 1 == steps_.size();
    if (!steps_[step]) {
      Add(entered, step);
    } else if (!is_last && MatchesName(*steps_[step], directory)) {
      Add(entered, step + 1);
    }
  }
}

// Adds the step, and for a `**` also the step behind it, because `**` can match no directory at all.
void Glob::Add(Position& position, size_t step) const {
  for (;; ++step) {
    const auto at = std::ranges::lower_bound(position, step);
    if (at == position.end() || *at != step) position.insert(at, step);
    if (steps_[step]) return;
  }
}

bool Glob::MatchesAt(const Position& position, std::string_view name) const {
  const bool is_at_last = !position.empty() && position.back() + 1 == steps_.size();
  return is_at_last && name.ends_with(tail_) && MatchesName(*steps_.back(), name);
}

size_t Glob::bytes() const {
  size_t bytes = sizeof(Glob) + tail_.capacity() + steps_.capacity() * sizeof(steps_.front());
  for (const std::optional<NamePattern>& step : steps_) {
    if (!step) continue;
    bytes += step->capacity() * sizeof(NameToken);
    for (const NameToken& token : *step) bytes += token.ranges.capacity() * sizeof(CharacterRange);
  }
  return bytes;
}

}  // namespace holdfast::sandbox
