#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/table/completion.h"
#include "cli/table/quote.h"

namespace holdfast::cli {
namespace {

// The names of files are offered also where `complete -f` says otherwise. fish takes this together with -r and not -x.
constexpr std::string_view kFiles = " -F";

// Returns the part of a `complete` command that says which values are offered; empty if there is nothing to offer.
std::string Offers(Completes completes, const std::vector<std::string>& choices, std::span<const Command> table) {
  if (!choices.empty()) return fmt::format(" -a {}", FishQuoted(fmt::format("{}", fmt::join(choices, " "))));
  switch (completes) {
    case Completes::kNothing:
      return {};
    case Completes::kFile:
      return std::string(kFiles);
    case Completes::kDirectory:
      return " -a '(__fish_complete_directories)'";
    case Completes::kProgram:
      return " -a '(__fish_complete_command)'";
    case Completes::kRun:
      return " -a " + FishQuoted(fmt::format("(holdfast ps --quiet 2>/dev/null | string match --regex {})",
                                             FishQuoted(kOfferedRunNames)));
    case Completes::kSignal:
      return " -a 'HUP INT QUIT KILL USR1 USR2 TERM CONT STOP TSTP WINCH'";
    case Completes::kCommandName: {
      std::vector<std::string_view> names;
      for (const Command& command : table) names.push_back(command.name);
      return fmt::format(" -a {}", FishQuoted(fmt::format("{}", fmt::join(names, " "))));
    }
  }
  return {};
}

std::string Line(std::string_view condition, const Option& option, std::span<const Command> table) {
  std::string line = fmt::format("complete -c holdfast -n {}", FishQuoted(condition));
  if (!option.letter.empty()) line += " -s " + option.letter.substr(1);
  if (!option.flag.empty()) line += " -l " + option.flag.substr(2);
  if (option.takes == Option::Takes::kValue) {
    const std::string offers = Offers(option.completes, option.choices, table);
    line += (offers == kFiles ? " -r" : " -x") + offers;
  }
  return line + " -d " + FishQuoted(option.help) + "\n";
}

std::string Lines(const Command& command, std::span<const Command> table) {
  const size_t blank = command.name.find(' ');
  const std::string first = command.name.substr(0, blank);
  std::string condition = "__fish_seen_subcommand_from " + first;
  std::string lines =
      fmt::format("complete -c holdfast -n __fish_use_subcommand -a {} -d {}\n", first, FishQuoted(command.summary));
  if (blank != std::string::npos) {
    const std::string second = command.name.substr(blank + 1);
    lines += fmt::format("complete -c holdfast -n {} -a {}\n",
                         FishQuoted(condition + "; and not __fish_seen_subcommand_from " + second), second);
    condition += "; and __fish_seen_subcommand_from " + second;
  }
  for (const Command& member : table) {  // the options of a family's head are not those of its members
    if (!member.name.starts_with(command.name + " ")) continue;
    condition += "; and not __fish_seen_subcommand_from " + member.name.substr(command.name.size() + 1);
  }
  for (const Option& option : command.options) {
    if (option.shown == Option::Shown::kYes) lines += Line(condition, option, table);
  }
  for (const Argument& argument : command.arguments) {
    const std::string offers = Offers(argument.completes, argument.choices, table);
    if (!offers.empty()) lines += fmt::format("complete -c holdfast -n {}{}\n", FishQuoted(condition), offers);
  }
  return lines;
}

}  // namespace

std::string FishCompletion(std::span<const Command> table) {
  std::string script =
      "# fish completion for holdfast; made by `holdfast completion fish`.\n"
      "complete -c holdfast -f\n"
      "complete -c holdfast -s h -l help -d 'print the help'\n"
      "complete -c holdfast -n __fish_use_subcommand -l version -d 'print the version'\n";
  for (const Command& command : table) script += Lines(command, table);
  return script;
}

}  // namespace holdfast::cli
