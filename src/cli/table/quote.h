// Texts in the notation of shells.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::cli {

// Returns the text in single quotes, so that bash and zsh read it as one word with exactly these characters.
std::string ShellQuoted(std::string_view text);

// The same for fish, where a backslash escapes also in single quotes.
std::string FishQuoted(std::string_view text);

}  // namespace holdfast::cli
