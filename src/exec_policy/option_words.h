// Functions that recognize options among the words of a command, as getopt_long reads them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::exec_policy {

using Words = std::span<const std::string>;

inline bool IsOption(std::string_view word) { return word.size() > 1 && word.starts_with('-'); }

// Returns the words in front of `--`.
inline Words OptionsIn(Words words) {
  const auto end = std::ranges::find(words, "--");
  return words.first(static_cast<size_t>(end - words.begin()));
}

// Returns whether a word such as `-vrf` is a group of short options with one of `letters`.
inline bool HasLetter(std::string_view word, std::string_view letters) {
  return IsOption(word) && word[1] != '-' && word.find_first_of(letters, 1) != std::string_view::npos;
}

// Returns whether a word is the long option `name`, or an abbreviation of it, with or without a value.
inline bool IsLong(std::string_view word, std::string_view name) {
  const std::string_view given = word.substr(0, word.find('='));
  return given.size() > 2 && given.starts_with("--") && name.starts_with(given.substr(2));
}

}  // namespace holdfast::exec_policy
