#include "apply_patch/line_search.h"

#include <algorithm>
#include <utility>

#include "apply_patch/characters.h"

namespace holdfast::apply_patch {
namespace {

bool IsAscii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// Returns the part of a line that is compared at a level, as a view of `text` or of a string that is added to `folded`.
std::string_view ComparedPart(std::string_view text, Likeness likeness, std::deque<std::string>& folded) {
  if (likeness == Likeness::kSame) return text;
  if (likeness == Likeness::kSpaceAtEnd) return TrimEnd(text);
  if (likeness == Likeness::kSpaceAround || IsAscii(text)) return Trim(text);
  return folded.emplace_back(FoldPunctuation(Trim(text)));
}

}  // namespace

bool AreAlike(std::string_view a, std::string_view b, Likeness likeness) {
  std::deque<std::string> folded;
  return ComparedPart(a, likeness, folded) == ComparedPart(b, likeness, folded);
}

LineIndex::LineIndex(std::span<const std::string_view> lines, Likeness likeness)
    : likeness_(likeness), numbers_(lines.size()), next_(lines.size()) {
  const auto none = static_cast<Number>(lines.size());
  number_of_.reserve(lines.size());
  for (size_t line = lines.size(); line-- > 0;) {
    const auto fresh = static_cast<Number>(first_.size());
    const auto [place, is_fresh] = number_of_.try_emplace(ComparedPart(lines[line], likeness, folded_), fresh);
    const Number number = place->second;
    if (is_fresh) {
      first_.push_back(none);
      count_.push_back(0);
    }
    numbers_[line] = number;
    next_[line] = std::exchange(first_[number], static_cast<Number>(line));
    ++count_[number];
  }
}

std::optional<std::vector<LineIndex::Number>> LineIndex::NumbersOf(std::span<const std::string_view> wanted) const {
  std::deque<std::string> folded;
  std::vector<Number> numbers;
  numbers.reserve(wanted.size());
  for (const std::string_view line : wanted) {
    const auto found = number_of_.find(ComparedPart(line, likeness_, folded));
    if (found == number_of_.end()) return std::nullopt;
    numbers.push_back(found->second);
  }
  return numbers;
}

bool LineIndex::AreAt(std::span<const Number> wanted, size_t position) const {
  if (wanted.size() > numbers_.size() - position) return false;
  return std::ranges::equal(wanted, std::span(numbers_).subspan(position, wanted.size()));
}

std::optional<size_t> LineIndex::Find(std::span<const std::string_view> wanted, size_t from) {
  const auto numbers = NumbersOf(wanted);
  if (!numbers) return std::nullopt;
  const auto rarest = std::ranges::min_element(*numbers, {}, [&](Number number) { return count_[number]; });
  const auto offset = static_cast<size_t>(rarest - numbers->begin());
  Number& first = first_[*rarest];
  while (first < numbers_.size() && first < from) first = next_[first];
  for (size_t line = first; line < numbers_.size(); line = next_[line]) {
    if (line >= from + offset && AreAt(*numbers, line - offset)) return line - offset;
  }
  return std::nullopt;
}

std::optional<size_t> LineSearch::Find(std::span<const std::string_view> wanted, size_t from) {
  for (const Likeness likeness : kLikenesses) {
    auto& index = indexes_[static_cast<size_t>(likeness)];
    if (!index) index.emplace(lines_, likeness);
    if (const auto found = index->Find(wanted, from)) return found;
  }
  return std::nullopt;
}

std::optional<size_t> LineSearch::FindAtEnd(std::span<const std::string_view> wanted, size_t from) const {
  if (wanted.size() > lines_.size() || lines_.size() - wanted.size() < from) return std::nullopt;
  const auto last = lines_.last(wanted.size());
  for (const Likeness likeness : kLikenesses) {
    const auto alike = [likeness](std::string_view a, std::string_view b) { return AreAlike(a, b, likeness); };
    if (std::ranges::equal(wanted, last, alike)) return lines_.size() - wanted.size();
  }
  return std::nullopt;
}

}  // namespace holdfast::apply_patch
