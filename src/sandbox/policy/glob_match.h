// A pattern for paths below a directory. `*` and `?` stay within a name, `**` as a whole name stands for any number of
// directories, `[...]` for one character. A name that begins with a dot is a name like others; upper and lower case
// differ. A character is one of UTF-8, or a byte that belongs to none. glob_parse.h makes these from text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sandbox {

// Takes the character that begins at `at` and moves `at` behind it. A byte that belongs to no character gives a number
// of its own, above all characters.
char32_t TakeCharacter(std::string_view text, size_t& at);

struct CharacterRange {
  char32_t first, last;
};

struct NameToken {
  enum class Kind { kLiteral, kAnyCharacter, kAnyRun, kOneOf, kNoneOf };
  Kind kind = Kind::kLiteral;
  char32_t literal = 0;
  std::vector<CharacterRange> ranges = {};  // of kOneOf and kNoneOf
};

using NamePattern = std::vector<NameToken>;

class Glob {
 public:
  // One step for each name, an absent one for `**`. The last is not absent.
  explicit Glob(std::vector<std::optional<NamePattern>> steps);

  // `path` is relative, its names separated by single slashes.
  bool Matches(std::string_view path) const;

  // Whether there may be a match in every directory.
  bool searches_everywhere() const { return !steps_.front().has_value(); }

  // The same for walks, one name at a time. A position is in a directory: the steps that a name in it can be matched
  // against, in their order. Empty: nothing in there or below it matches.
  using Position = std::vector<size_t>;
  Position Start() const;
  Position Enter(const Position& position, std::string_view directory) const;
  bool MatchesAt(const Position& position, std::string_view name) const;

 private:
  void Add(Position& position, size_t step) const;

  std::vector<std::optional<NamePattern>> steps_;
  std::string tail_;  // what every match ends in: most names are told by it
};

}  // namespace holdfast::sandbox
