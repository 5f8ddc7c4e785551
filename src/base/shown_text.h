// Text that a user reads before deciding about something. An attacker may have chosen parts of it, so that characters
// which a user could not see, or which change how other characters look, are shown as escapes.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace holdfast {

// Returns whether a character is a control character, has no shape of its own, is a blank other than the space, or
// changes the direction of text.
bool IsInvisible(char32_t character);

// Returns the text on one line: each invisible character and each byte that is not UTF-8 is an escape, such as \n or
// \x1b.
std::string ShownText(std::string_view text);

// Returns a word as a shell would read it: as it is if that is unambiguous, else in single quotes. A word with
// characters that ShownText would escape, or with a backtick, which ends code in Markdown, is written as $'...' with
// escapes.
std::string ShownWord(std::string_view word);

// Returns the words of a command behind each other. Of a very long word the head and the tail are shown, and of very
// many words the first ones. Brackets outside of quotes tell how much is left out.
std::string ShownCommand(std::span<const std::string> words);

}  // namespace holdfast
