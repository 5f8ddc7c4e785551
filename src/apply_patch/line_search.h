// A search for given lines in a file. Lines can match exactly, or loosely at several levels. A looser level is tried
// only when the stricter ones have found nothing anywhere.
//
// The time of all searches together is usually linear in the number of lines. Only wanted lines that all occur many
// times are compared at each of these places. For each level that is needed, the lines of the file get numbers, the
// same number for lines that match each other. A search then goes from one occurrence of its rarest line to the next.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace holdfast::apply_patch {

// The levels of a match: what may differ in lines that match. Nothing may differ, or whitespace at the end, or
// whitespace at both ends, or whitespace at both ends and the form of punctuation.
enum class Likeness { kSame, kSpaceAtEnd, kSpaceAround, kPunctuation };

inline constexpr std::array kLikenesses = {Likeness::kSame, Likeness::kSpaceAtEnd, Likeness::kSpaceAround,
                                           Likeness::kPunctuation};

bool AreAlike(std::string_view a, std::string_view b, Likeness likeness);

// The index of the lines of a file at one level.
class LineIndex {
 public:
  LineIndex(std::span<const std::string_view> lines, Likeness likeness);

  // Returns the first line at or after `from` where all of `wanted` follow one after the other. `wanted` must not be
  // empty, and `from` must not be less than in an earlier call.
  std::optional<size_t> Find(std::span<const std::string_view> wanted, size_t from);

 private:
  // A number has 32 bits. A file with more lines than that does not fit into memory anyway.
  using Number = uint32_t;

  std::optional<std::vector<Number>> NumbersOf(std::span<const std::string_view> wanted) const;
  bool AreAt(std::span<const Number> wanted, size_t position) const;

  Likeness likeness_;
  std::deque<std::string> folded_;  // texts with plain punctuation, which are not part of the content of the file
  std::unordered_map<std::string_view, Number> number_of_;
  std::vector<Number> numbers_;  // for each line, its number
  std::vector<Number> next_;     // for each line, the next line with the same number, or the number of lines if none
  // For each number, the first line that has it and the number of such lines. `first_` skips lines before `from`, to
  // which no later search returns.
  std::vector<Number> first_, count_;
};

class LineSearch {
 public:
  // `lines` must outlive this object.
  explicit LineSearch(std::span<const std::string_view> lines) : lines_(lines) {}

  // Returns the result of LineIndex::Find at the strictest level that finds something.
  std::optional<size_t> Find(std::span<const std::string_view> wanted, size_t from);

  // Returns the line where `wanted` begins if the file ends with it at some level, unless that line is before `from`.
  std::optional<size_t> FindAtEnd(std::span<const std::string_view> wanted, size_t from) const;

 private:
  std::span<const std::string_view> lines_;
  std::array<std::optional<LineIndex>, kLikenesses.size()> indexes_;
};

}  // namespace holdfast::apply_patch
