// Text that the product has not written itself, in the form in which a user may read it: what a server, a client or a
// command sends, names of files, and what others wrote into files. An attacker may have chosen it, so characters that
// command a terminal, that a user could not see, or that change how other characters look, are shown as escapes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast {

// Returns whether a character is a control character, has no shape of its own, is a blank other than the space, or
// changes the direction of text.
bool IsInvisible(char32_t character);

// Returns the text on one line: each invisible character and each byte that is not UTF-8 is an escape, such as \n, \x1b
// or \u202e.
std::string ShownText(std::string_view text);

// The same for a text of several lines, which stays one. Where a line means something by itself, each part of it has to
// be shown by ShownText before.
std::string ShownLines(std::string_view text);

// ShownText for a text that may be long: of more than `max_bytes` bytes only the beginning is shown, with `...` behind
// it.
std::string ShownExcerpt(std::string_view text, size_t max_bytes = 1000);

// Returns JSON with the same value, in which invisible characters beyond ASCII are escapes. An encoder escapes the
// others.
std::string ShownJson(std::string_view json);

// Returns a word as a shell would read it: as it is if that is unambiguous, else in single quotes. A word with
// characters that ShownText would escape, or with a backtick, which ends code in Markdown, is written as $'...' with
// escapes.
std::string ShownWord(std::string_view word);

// Returns the words of a command behind each other. Of a very long word the head and the tail are shown, and of very
// many words the first ones. Brackets outside of quotes say how much is left out.
std::string ShownCommand(std::span<const std::string> words);

// Returns variables in the same way, as a shell would take them in front of a command.
std::string ShownVariables(std::span<const std::pair<std::string, std::string>> variables);

}  // namespace holdfast
