// Scripts that let a shell complete the command lines of `holdfast`: the names of commands, their options, and the
// values of options and arguments.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/table/command.h"

namespace holdfast::cli {

// The extended regular expression of the names of runs that a shell offers. A server sends these names, and may send
// any text: what the shell could take for more than a word, or holdfast for an option, is not offered.
inline constexpr std::string_view kOfferedRunNames = "^[A-Za-z0-9._][A-Za-z0-9._-]{0,63}$";

std::string BashCompletion(std::span<const Command> table);
std::string ZshCompletion(std::span<const Command> table);
std::string FishCompletion(std::span<const Command> table);

// Returns the text in single quotes, so that bash and zsh read it as one word with exactly these characters.
std::string ShellQuoted(std::string_view text);

// The same for fish, where a backslash escapes also in single quotes.
std::string FishQuoted(std::string_view text);

}  // namespace holdfast::cli
