// Characters of text that is known to be UTF-8: what counts as whitespace, and which punctuation is alike.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast::apply_patch {

// Whitespace is what Unicode gives that property: a no-break space is, a byte order mark is not.
std::string_view TrimStart(std::string_view text);
std::string_view TrimEnd(std::string_view text);
std::string_view Trim(std::string_view text);

// Text as a message repeats it: at most `limit` bytes, cut between two characters, and dots for the rest.
std::string Shortened(std::string_view text, size_t limit);

// Typographic dashes, quotation marks and spaces become their plain ASCII forms.
std::string FoldPunctuation(std::string_view text);

}  // namespace holdfast::apply_patch
