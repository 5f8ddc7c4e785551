#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/table/completion.h"

namespace holdfast::cli {
namespace {

constexpr std::string_view kBegin = R"sh(#compdef holdfast
# zsh completion for holdfast; made by `holdfast completion zsh`.

# Offers the names of runs. A server sends them, so only those that are harmless are kept.
_holdfast_runs() {
  local LC_ALL=C name
  local -a names
  for name in ${(f)"$(_call_program runs holdfast ps --quiet 2>/dev/null)"}; do
    [[ $name =~ $_holdfast_run_names ]] && names+=("$name")
  done
  compadd -a names
}

# Offers the words $@ beside files.
_holdfast_words_or_files() {
  _alternative "words:value:($*)" files:file:_files
}

)sh";

// Returns the text with a backslash in front of each character that ends a part of a specification for _arguments.
std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string Action(Completes completes) {
  switch (completes) {
    case Completes::kNothing:
      return " ";
    case Completes::kFile:
      return "_files";
    case Completes::kDirectory:
      return "_files -/";
    case Completes::kProgram:
      return "_command_names -e";
    case Completes::kRun:
      return "_holdfast_runs";
    case Completes::kSignal:
      return "_signals -s";
    case Completes::kCommandName:
      return "_holdfast_commands";
  }
  return " ";
}

// `offered` is an option or an argument.
std::string ActionOf(const auto& offered) {
  if (!offered.choices.empty()) return fmt::format("({})", fmt::join(offered.choices, " "));
  if (offered.suggestions.empty()) return Action(offered.completes);
  const std::string words = fmt::format("{}", fmt::join(offered.suggestions, " "));
  // Without the blank in front, zsh would put options for compadd between the function and its words.
  return offered.completes == Completes::kFile ? " _holdfast_words_or_files " + words : "(" + words + ")";
}

std::string Specification(const Option& option, std::string_view name) {
  const bool many = option.times == Option::Times::kMany;
  const std::string others =
      option.letter.empty() || option.flag.empty() ? std::string(name) : option.letter + " " + option.flag;
  std::string text = many ? fmt::format("*{}", name) : fmt::format("({}){}", others, name);
  text += fmt::format("[{}]", Escaped(option.help));
  for (int i = 0; option.takes == Option::Takes::kValue && i < option.values; ++i) {
    text += fmt::format(":{}:{}", Escaped(option.value), ActionOf(option));
  }
  return text;
}

std::string Specification(const Argument& argument) {
  const std::string action = ActionOf(argument);
  switch (argument.count) {
    case Argument::Count::kOne:
      return fmt::format(":{}:{}", Escaped(argument.name), action);
    case Argument::Count::kOptional:
      return fmt::format("::{}:{}", Escaped(argument.name), action);
    case Argument::Count::kMany:
      return fmt::format("*:{}:{}", Escaped(argument.name), action);
    case Argument::Count::kRest:
    case Argument::Count::kOptionalRest:
      return fmt::format("*::{}:_normal", Escaped(argument.name));
  }
  return {};
}

std::string Function(const Command& command) {
  std::string text = "      _arguments -s -S";
  for (const Option& option : command.options) {
    if (option.shown == Option::Shown::kNo) continue;
    for (const std::string& name : {option.letter, option.flag}) {
      if (!name.empty()) text += " \\\n        " + ShellQuoted(Specification(option, name));
    }
  }
  text += " \\\n        '(- *)--help[print the help]'";
  for (const Argument& argument : command.arguments) {
    text += " \\\n        " + ShellQuoted(Specification(argument));
  }
  return text + "\n";
}

std::string_view FirstWord(std::string_view name) { return name.substr(0, name.find(' ')); }

// Returns the case for all commands with the same first word: one command, a family, or a command that is also the head
// of a family.
std::string Case(std::string_view first, std::span<const Command> table) {
  std::vector<std::string_view> members;
  std::string cases, own;
  for (const Command& command : table) {
    if (FirstWord(command.name) != first) continue;
    if (command.name == first) {
      own = Function(command);
      continue;
    }
    members.push_back(std::string_view(command.name).substr(first.size() + 1));
    cases += fmt::format(
        "      if [[ $words[2] == {} ]]; then\n      shift words; ((CURRENT--))\n{}      return\n      fi\n",
        members.back(), Function(command));
  }
  std::string text = fmt::format("    {})\n", first);
  if (!members.empty()) {
    text += fmt::format("      if ((CURRENT == 2)) && [[ $PREFIX != -* ]]; then compadd {}; return; fi\n{}",
                        fmt::join(members, " "), cases);
  }
  return text + own + "      ;;\n";
}

}  // namespace

std::string ZshCompletion(std::span<const Command> table) {
  std::string commands, cases;
  std::vector<std::string_view> seen;
  for (const Command& command : table) {
    const std::string_view first = FirstWord(command.name);
    if (std::ranges::find(seen, first) != seen.end()) continue;
    seen.push_back(first);
    commands += "    " + ShellQuoted(Escaped(first) + ":" + command.summary) + "\n";
    cases += Case(first, table);
  }
  return fmt::format(
      "{}_holdfast_run_names={}\n\n_holdfast_commands() {{\n  local -a commands=(\n{}  )\n  _describe command "
      "commands\n}}\n\n"
      "_holdfast() {{\n  local curcontext=$curcontext state line\n  typeset -A opt_args\n"
      "  _arguments -C '(- *)--help[print the help]' '(- *)--version[print the version]' \\\n"
      "    '1:command:_holdfast_commands' '*::argument:->argument'\n"
      "  [[ $state == argument ]] || return\n  case $words[1] in\n{}  esac\n}}\n\n"
      "if [[ $funcstack[1] == _holdfast ]]; then _holdfast \"$@\"; else compdef _holdfast holdfast; fi\n",
      kBegin, ShellQuoted(kOfferedRunNames), commands, cases);
}

}  // namespace holdfast::cli
