#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/table/completion.h"

namespace holdfast::cli {
namespace {

// The part of the script that does not depend on the table. The name of a run, or a word of the command to run, may be
// that of a command, so only the first words of a line say which command it has.
constexpr std::string_view kBegin = R"fish(# fish completion for holdfast; made by `holdfast completion fish`.

# Returns whether the line has the command of which $argv are the words.
function __holdfast_is
    set -l words (commandline -opc)
    set -l last (math 1 + (count $argv))
    test (count $words) -ge $last; and test "$words[2..$last]" = "$argv"
end

# Returns whether the next word is the second one behind the family $argv.
function __holdfast_wants_member
    __holdfast_is $argv; and test (count (commandline -opc)) -eq 2
end

complete -c holdfast -f
complete -c holdfast -n __fish_use_subcommand -s h -l help -d 'print the help'
complete -c holdfast -n __fish_use_subcommand -l version -d 'print the version'
)fish";

// The names of files are offered also where `complete -f` says otherwise. fish takes this together with -r and not -x.
constexpr std::string_view kFiles = " -F";

// Returns the words that are offered, as fish evaluates them; empty if there are none.
std::string Words(Completes completes, std::span<const Command> table) {
  switch (completes) {
    case Completes::kNothing:
    case Completes::kFile:
      return {};
    case Completes::kDirectory:
      return "(__fish_complete_directories)";
    case Completes::kProgram:
      return "(__fish_complete_command)";
    case Completes::kRun:
      return fmt::format("(holdfast ps --quiet 2>/dev/null | string match --regex {})", FishQuoted(kOfferedRunNames));
    case Completes::kSignal:
      return "HUP INT QUIT KILL USR1 USR2 TERM CONT STOP TSTP WINCH";
    case Completes::kCommandName: {
      std::vector<std::string_view> names;
      for (const Command& command : table) names.push_back(command.name);
      return fmt::format("{}", fmt::join(names, " "));
    }
  }
  return {};
}

// Returns the part of a `complete` command that says which values are offered; empty if there is nothing to offer.
// `offered` is an option or an argument.
std::string OffersOf(const auto& offered, std::span<const Command> table) {
  if (!offered.choices.empty()) return " -a " + FishQuoted(fmt::format("{}", fmt::join(offered.choices, " ")));
  std::string words = fmt::format("{}", fmt::join(offered.suggestions, " "));
  const std::string further = Words(offered.completes, table);
  if (!words.empty() && !further.empty()) words += " ";
  words += further;
  const std::string files(offered.completes == Completes::kFile ? kFiles : "");
  return words.empty() ? files : files + " -a " + FishQuoted(words);
}

std::string Line(std::string_view condition, const Option& option, std::span<const Command> table) {
  std::string line = fmt::format("complete -c holdfast -n {}", FishQuoted(condition));
  if (!option.letter.empty()) line += " -s " + option.letter.substr(1);
  if (!option.flag.empty()) line += " -l " + option.flag.substr(2);
  if (option.takes == Option::Takes::kValue) {
    const std::string offers = OffersOf(option, table);
    line += (offers.starts_with(kFiles) ? " -r" : " -x") + offers;
  }
  return line + " -d " + FishQuoted(option.help) + "\n";
}

// Returns the words by which fish finds the program that the command runs, and completes the words behind it.
std::string OffersOfProgram(const Command& command) {
  std::string words =
      fmt::format("(__fish_complete_subcommand --fcs-skip={}", 2 + std::ranges::count(command.name, ' '));
  for (const Option& option : command.options) {
    if (option.takes != Option::Takes::kValue) continue;
    for (const std::string& name : {option.letter, option.flag}) {
      if (!name.empty()) words += " " + name;
    }
  }
  return " -a " + FishQuoted(words + ")");
}

std::string Lines(const Command& command, std::span<const Command> table) {
  const size_t blank = command.name.find(' ');
  const std::string first = command.name.substr(0, blank);
  std::string lines =
      fmt::format("complete -c holdfast -n __fish_use_subcommand -a {} -d {}\n", first, FishQuoted(command.summary));
  if (blank != std::string::npos) {
    lines += fmt::format("complete -c holdfast -n {} -a {}\n", FishQuoted("__holdfast_wants_member " + first),
                         command.name.substr(blank + 1));
  }
  std::string condition = "__holdfast_is " + command.name;
  for (const Command& member : table) {  // the options of a family's head are not those of its members
    if (member.name.starts_with(command.name + " ")) condition += "; and not __holdfast_is " + member.name;
  }
  for (const Option& option : command.options) {
    if (option.shown == Option::Shown::kYes) lines += Line(condition, option, table);
  }
  lines += fmt::format("complete -c holdfast -n {} -s h -l help -d 'print the help'\n", FishQuoted(condition));
  for (const Argument& argument : command.arguments) {
    const bool is_program = argument.completes == Completes::kProgram && HasRest(command);
    const std::string offers = is_program ? OffersOfProgram(command) : OffersOf(argument, table);
    if (!offers.empty()) lines += fmt::format("complete -c holdfast -n {}{}\n", FishQuoted(condition), offers);
  }
  return lines;
}

}  // namespace

std::string FishCompletion(std::span<const Command> table) {
  std::string script(kBegin);
  for (const Command& command : table) script += Lines(command, table);
  return script;
}

}  // namespace holdfast::cli
