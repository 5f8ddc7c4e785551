#include "cli/table/suggestion.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace holdfast::cli {
namespace {

constexpr size_t kLongestWord = 64;  // nobody mistypes a longer one
constexpr size_t kLettersPerMistake = 3;

// Returns how many letters have to be inserted, removed, replaced or exchanged with their neighbour to make `to` of
// `from`.
size_t Mistakes(std::string_view from, std::string_view to) {
  const size_t width = to.size() + 1;
  std::vector<size_t> before(width), above(width), row(width);
  for (size_t j = 0; j < width; ++j) above[j] = j;
  for (size_t i = 1; i <= from.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j < width; ++j) {
      const bool same = from[i - 1] == to[j - 1];
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1)});
      const bool exchanged = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (exchanged) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[to.size()];
}

std::string DidYouMean(const std::string& nearest) {
  return nearest.empty() ? std::string() : fmt::format(" (did you mean {}?)", nearest);
}

}  // namespace

std::string NearestWord(std::string_view word, std::span<const std::string> known) {
  if (word.size() > kLongestWord) return {};
  std::string nearest;
  size_t fewest = std::max<size_t>(1, word.size() / kLettersPerMistake) + 1;
  for (const std::string& candidate : known) {
    const bool is_abbreviation = word.size() >= kLettersPerMistake && candidate.starts_with(word);
    const size_t mistakes = is_abbreviation ? 1 : Mistakes(word, candidate);
    if (mistakes >= fewest) continue;
    fewest = mistakes;
    nearest = candidate;
  }
  return nearest;
}

std::string UnknownCommandText(std::span<const Command> table, std::string_view name) {
  std::vector<std::string> names;
  for (const Command& command : table) {
    if (std::ranges::find(command.elsewhere_called, name) != command.elsewhere_called.end()) {
      return fmt::format("unknown command {}{}", name, DidYouMean(command.name));
    }
    names.push_back(command.name);
  }
  return fmt::format("unknown command {}{}", name, DidYouMean(NearestWord(name, names)));
}

std::string UnknownOptionText(const Command& command, std::string_view name) {
  for (const Hint& hint : command.hints) {
    if (std::ranges::find(hint.options, name) != hint.options.end()) {
      return fmt::format("there is no option {}: {}", name, hint.advice);
    }
  }
  std::vector<std::string> names = {"--help"};
  for (const Option& option : command.options) {
    if (option.shown == Option::Shown::kYes && !option.flag.empty()) names.push_back(option.flag);
  }
  const bool is_letter = !name.starts_with("--");
  return fmt::format("unknown option {}{}", name, is_letter ? "" : DidYouMean(NearestWord(name, names)));
}

}  // namespace holdfast::cli
