// Texts of others, such as those of rules files and clients, in the form in which a terminal may show them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast {

// Returns the text in one line. Control characters, those that change the direction of writing, and bytes that are not
// UTF-8 are shown as escapes (\n, \x1b, \u202e), so that the text can neither command a terminal nor deceive its
// reader. Of a text that is longer than `max_bytes` only the beginning is shown, with `...` behind it.
std::string PrintableExcerpt(std::string_view text, size_t max_bytes = 1000);

}  // namespace holdfast
