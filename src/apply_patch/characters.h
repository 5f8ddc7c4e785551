// Functions on text that is known to be UTF-8: they remove whitespace, shorten text, and unify punctuation.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast::apply_patch {

// These functions remove whitespace at the start, at the end, or at both. Whitespace is every character to which
// Unicode gives that property: a no-break space is whitespace, a byte order mark is not.
std::string_view TrimStart(std::string_view text);
std::string_view TrimEnd(std::string_view text);
std::string_view Trim(std::string_view text);

// Returns text for a message: at most `limit` bytes of it, cut between two characters, with dots in place of the rest.
std::string Shortened(std::string_view text, size_t limit);

// Replaces typographic dashes, quotation marks and spaces by their plain ASCII forms.
std::string FoldPunctuation(std::string_view text);

}  // namespace holdfast::apply_patch
