// The words of a text by the quoting rules of POSIX shells, without any expansion: `$HOME` stays as it is.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::exec_policy {

// Returns the words of one command. A `#` at the beginning of a word starts a comment that ends with the line. Returns
// nothing if a quote is not closed, or if the text ends in a backslash.
std::optional<std::vector<std::string>> SplitWords(std::string_view text);

// Returns a text of which SplitWords makes these words again. Only words that need quotes have them.
std::string JoinWords(std::span<const std::string> words);

// Returns the commands of a shell script, each as its words. Operators, parentheses, backquotes and line ends separate
// commands. Redirections, assignments and keywords in front of a command are left out. It is a guess: expansions are
// not made, and texts in double quotes and here-documents are not searched for further commands. Returns nothing where
// SplitWords would.
std::optional<std::vector<std::vector<std::string>>> SplitScript(std::string_view script);

}  // namespace holdfast::exec_policy
