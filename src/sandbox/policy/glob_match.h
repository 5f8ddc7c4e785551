// A Glob matches paths below a directory. `*` and `?` match within one name, `[...]` matches one character, and `**` as
// a whole name matches any number of directories. Wildcards also match names that begin with a dot. Upper and lower
// case differ. A character is a UTF-8 character, or a single byte where the text is not valid UTF-8. glob_parse.h makes
// globs from text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sandbox {

// Returns the character that begins at `at`, and moves `at` behind it. A byte that belongs to no UTF-8 character is
// returned as a number above all characters, a different one for each byte.
char32_t TakeCharacter(std::string_view text, size_t& at);

struct CharacterRange {
  char32_t first, last;

  friend bool operator==(const CharacterRange&, const CharacterRange&) = default;
};

struct NameToken {
  enum class Kind { kLiteral, kAnyCharacter, kAnyRun, kOneOf, kNoneOf };
  Kind kind = Kind::kLiteral;
  char32_t literal = 0;
  std::vector<CharacterRange> ranges = {};  // only for kOneOf and kNoneOf

  friend bool operator==(const NameToken&, const NameToken&) = default;
};

using NamePattern = std::vector<NameToken>;

class Glob {
 public:
  // `steps` has one step for each name of the pattern; `**` is an absent step. The last step must not be absent.
  explicit Glob(std::vector<std::optional<NamePattern>> steps);

  // `path` must be relative, and single slashes must separate its names.
  bool Matches(std::string_view path) const;

  // Returns whether every directory, at whatever depth, may contain a match.
  bool searches_everywhere() const { return !steps_.front().has_value(); }

  // A walk of a tree matches one name at a time. It keeps a position for each directory: the steps that the names in
  // this directory are to be matched against, in ascending order. An empty position means that nothing in the directory
  // or below it can match.
  using Position = std::vector<size_t>;
  Position Start() const;
  void Enter(const Position& position, std::string_view directory, Position& entered) const;
  bool MatchesAt(const Position& position, std::string_view name) const;

  // Returns the memory that the glob takes, which can be much more than that of its text.
  size_t bytes() const;

  friend bool operator==(const Glob&, const Glob&) = default;

 private:
  void Add(Position& position, size_t step) const;

  std::vector<std::optional<NamePattern>> steps_;
  std::string tail_;  // the text that every match ends in; comparing it first rules out most names quickly
};

}  // namespace holdfast::sandbox
