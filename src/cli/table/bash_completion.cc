#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/table/completion.h"

namespace holdfast::cli {
namespace {

// The part of the script that does not depend on the table. `_holdfast_rows`, which follows, sets for one command:
//   options   all its options          valued     those that are followed by a value
//   values    the kind of value of the option in $previous; empty if it takes none
//   places    the kinds of its arguments, one word each; the last one stands for all further arguments
//   rest      the number of the argument that takes all further words; empty if there is none
constexpr std::string_view kProgram = R"sh(# bash completion for holdfast; made by `holdfast completion bash`.

# Puts the names of runs that begin with $1 into COMPREPLY. A server sends these names, so nothing may expand them.
_holdfast_offer_runs() {
  local LC_ALL=C name
  while IFS= read -r name; do
    [[ $name =~ $_holdfast_run_names && $name == "$1"* ]] && COMPREPLY+=("$(printf %q "$name")")
  done < <("${COMP_WORDS[0]}" ps --quiet 2>/dev/null)
}

# Puts the words of kind $1 that begin with $2 into COMPREPLY. Behind `also:` stand words that are offered beside those.
_holdfast_offer() {
  local found= also=
  [[ $1 == *' also:'* ]] && also=$(compgen -W "${1#* also:}" -- "$2")
  case ${1%% also:*} in
    file) found=$(compgen -f -- "$2"); compopt -o filenames 2>/dev/null ;;
    directory) found=$(compgen -d -- "$2"); compopt -o filenames 2>/dev/null ;;
    program) found=$(compgen -c -- "$2") ;;
    run) _holdfast_offer_runs "$2"; return ;;
    signal) found=$(compgen -A signal -- "$2") ;;
    words:*) found=$(compgen -W "${1#words:}" -- "$2") ;;
  esac
  [[ -n $found && -n $also ]] && also+=$'\n'
  [[ -n $also$found ]] && mapfile -t COMPREPLY <<<"$also$found"
}

# Sets `place` to the number of arguments in front of the cursor, and `dashed` if a -- is among the words. In `start` is
# the place of the word with which the command to run begins.
_holdfast_count() {
  local i word
  for ((i = first; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ -z $dashed && $word == -- ]]; then
      dashed=1
    elif [[ -z $dashed && $word == -?* ]]; then
      [[ " $valued " == *" $word "* ]] && ((i++))
    else
      ((++place))
      if [[ -n $rest ]] && ((place >= rest)); then start=$i; return; fi
    fi
  done
}

_holdfast() {
  COMPREPLY=()
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
  local command=${COMP_WORDS[1]} first=2 options= valued= values= rest= place=0 dashed= start=
  local -a places=()
  if ((COMP_CWORD == 1)); then _holdfast_offer "words:$_holdfast_commands" "$current"; return; fi
  local member members=
  for member in "${_holdfast_families[@]}"; do
    [[ ${member%% *} == "$command" ]] && members+=" ${member#* }"
  done
  if [[ -n $members && $COMP_CWORD == 2 && $current != -* ]]; then
    _holdfast_offer "words:$members" "$current"
    return
  fi
  if [[ "$members " == *" ${COMP_WORDS[2]} "* ]]; then command+=" ${COMP_WORDS[2]}" first=3; fi
  _holdfast_rows
  _holdfast_count
  if [[ -n $start ]]; then
    if declare -F _command_offset >/dev/null; then _command_offset "$start"; else _holdfast_offer file "$current"; fi
    return
  fi
  if [[ -z $dashed && -n $values ]]; then _holdfast_offer "$values" "$current"; return; fi
  if [[ -z $dashed && $current == -* ]]; then _holdfast_offer "words:$options" "$current"; return; fi
  ((${#places[@]})) || return
  ((place < ${#places[@]})) || place=$((${#places[@]} - 1))
  _holdfast_offer "${places[place]}" "$current"
}

)sh";

std::string Kind(Completes completes, std::span<const Command> table) {
  switch (completes) {
    case Completes::kNothing:
      return "nothing";
    case Completes::kFile:
      return "file";
    case Completes::kDirectory:
      return "directory";
    case Completes::kProgram:
      return "program";
    case Completes::kRun:
      return "run";
    case Completes::kSignal:
      return "signal";
    case Completes::kCommandName: {
      std::vector<std::string_view> names;
      for (const Command& command : table) names.push_back(command.name);
      return fmt::format("words:{}", fmt::join(names, " "));
    }
  }
  return "nothing";
}

// `offered` is an option or an argument.
std::string KindOf(const auto& offered, std::span<const Command> table) {
  if (!offered.choices.empty()) return fmt::format("words:{}", fmt::join(offered.choices, " "));
  const std::string kind = Kind(offered.completes, table);
  return offered.suggestions.empty() ? kind : fmt::format("{} also:{}", kind, fmt::join(offered.suggestions, " "));
}

std::vector<std::string> NamesOf(const Option& option) {
  std::vector<std::string> names;
  if (!option.letter.empty()) names.push_back(option.letter);
  if (!option.flag.empty()) names.push_back(option.flag);
  return names;
}

std::string Row(const Command& command, std::span<const Command> table) {
  std::vector<std::string> options, valued, places;
  std::string values;
  for (const Option& option : command.options) {
    if (option.shown == Option::Shown::kNo) continue;
    const std::vector<std::string> names = NamesOf(option);
    options.insert(options.end(), names.begin(), names.end());
    if (option.takes != Option::Takes::kValue) continue;
    valued.insert(valued.end(), names.begin(), names.end());
    values += fmt::format("        {}) values={} ;;\n", fmt::join(names, "|"), ShellQuoted(KindOf(option, table)));
  }
  options.emplace_back("--help");
  for (const Argument& argument : command.arguments) {
    places.push_back(ShellQuoted(KindOf(argument, table)));
  }
  std::string row = fmt::format("    {})\n", ShellQuoted(command.name));
  row += fmt::format("      options='{}'\n      valued='{}'\n", fmt::join(options, " "), fmt::join(valued, " "));
  row += fmt::format("      places=({})\n", fmt::join(places, " "));
  if (HasRest(command)) row += fmt::format("      rest={}\n", command.arguments.size());
  if (!values.empty()) row += fmt::format("      case $previous in\n{}      esac\n", values);
  return row + "      ;;\n";
}

}  // namespace

std::string BashCompletion(std::span<const Command> table) {
  std::vector<std::string> names, families;
  std::string rows;
  for (const Command& command : table) {
    rows += Row(command, table);
    const size_t blank = command.name.find(' ');
    names.push_back(command.name.substr(0, blank));
    if (blank != std::string::npos) families.push_back(ShellQuoted(command.name));
  }
  return fmt::format(
      "{}_holdfast_run_names={}\n_holdfast_commands='{} --help --version'\n_holdfast_families=({})\n\n"
      "_holdfast_rows() {{\n  case $command in\n{}  esac\n}}\n\ncomplete -F _holdfast holdfast\n",
      kProgram, ShellQuoted(kOfferedRunNames), fmt::join(names, " "), fmt::join(families, " "), rows);
}

}  // namespace holdfast::cli
