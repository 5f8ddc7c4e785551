// Where given lines stand in a file, exactly or loosely. The looser levels are tried only when the stricter ones find
// nothing anywhere.
//
// The time of all searches together is usually linear; a chunk of lines that all repeat is compared at each place.
// Lines are numbered once for each level that is needed, equal lines alike, and a search goes from one place of its
// rarest line to the next.
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

// What may differ in lines that count as equal: nothing, whitespace at the end, whitespace at both ends, or that and
// the form of punctuation.
enum class Likeness { kSame, kSpaceAtEnd, kSpaceAround, kPunctuation };

inline constexpr std::array kLikenesses = {Likeness::kSame, Likeness::kSpaceAtEnd, Likeness::kSpaceAround,
                                           Likeness::kPunctuation};

bool AreAlike(std::string_view a, std::string_view b, Likeness likeness);

// The lines of a file at one level.
class LineIndex {
 public:
  LineIndex(std::span<const std::string_view> lines, Likeness likeness);

  // The first place at or after `from` where all of `wanted` stand, one line after the other. `wanted` is not empty,
  // and `from` is never less than in an earlier call.
  std::optional<size_t> Find(std::span<const std::string_view> wanted, size_t from);

 private:
  // Numbers are 32 bits wide: that many lines have no room in memory anyway.
  using Number = uint32_t;

  std::optional<std::vector<Number>> NumbersOf(std::span<const std::string_view> wanted) const;
  bool StandAt(std::span<const Number> wanted, size_t position) const;

  Likeness likeness_;
  std::deque<std::string> folded_;  // the texts that are no part of the file
  std::unordered_map<std::string_view, Number> number_of_;
  std::vector<Number> numbers_;        // of each line
  std::vector<Number> next_;           // the next line with the same number; the number of lines if there is none
  std::vector<Number> first_, count_;  // of each number; `first_` leaves places behind that no search comes back to
};

class LineSearch {
 public:
  // `lines` outlive this.
  explicit LineSearch(std::span<const std::string_view> lines) : lines_(lines) {}

  // The result of LineIndex::Find at the strictest level that finds something.
  std::optional<size_t> Find(std::span<const std::string_view> wanted, size_t from);

  // The place of `wanted` at the very end of the file, unless that lies before `from`.
  std::optional<size_t> FindAtEnd(std::span<const std::string_view> wanted, size_t from) const;

 private:
  std::span<const std::string_view> lines_;
  std::array<std::optional<LineIndex>, kLikenesses.size()> indexes_;
};

}  // namespace holdfast::apply_patch
