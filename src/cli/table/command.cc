#include "cli/table/command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace holdfast::cli {
namespace {

std::string Placeholder(const Argument& argument) {
  switch (argument.count) {
    case Argument::Count::kOne:
      return argument.name;
    case Argument::Count::kOptional:
      return fmt::format("[{}]", argument.name);
    case Argument::Count::kMany:
      return fmt::format("{}...", argument.name);
    case Argument::Count::kRest:
      return fmt::format("[--] {} [ARG...]", argument.name);
    case Argument::Count::kOptionalRest:
      return fmt::format("[[--] {} [ARG...]]", argument.name);
  }
  return argument.name;
}

}  // namespace

std::string Synopsis(const Command& command) {
  std::string text = "holdfast " + command.name;
  if (!command.options.empty()) text += " [OPTIONS]";
  for (const Argument& argument : command.arguments) text += " " + Placeholder(argument);
  return text;
}

std::string Heading(const Option& option) {
  std::string text = option.letter;
  if (!option.letter.empty() && !option.flag.empty()) text += ", ";
  text += option.flag;
  if (!option.value.empty()) text += " " + option.value;
  if (option.takes == Option::Takes::kToggle) text += "[=true|false]";
  return text;
}

std::string Explanation(const Option& option) {
  std::string text = option.help;
  if (!option.choices.empty()) text += fmt::format(" ({})", fmt::join(option.choices, "|"));
  if (!option.default_value.empty()) text += fmt::format(" [{}]", option.default_value);
  return text;
}

bool HasRest(const Command& command) {
  if (command.arguments.empty()) return false;
  const Argument::Count count = command.arguments.back().count;
  return count == Argument::Count::kRest || count == Argument::Count::kOptionalRest;
}

}  // namespace holdfast::cli
