#include "cli/table/help.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace holdfast::cli {
namespace {

constexpr size_t kWidth = 100, kIndent = 2, kWidestHeading = 30;

// Breaks `text` into lines at blanks. Each line but the first begins with `indent` blanks. Lines of the text itself are
// kept.
std::string Wrapped(std::string_view text, size_t indent) {
  std::string wrapped;
  size_t column = indent;
  char before = '\0';  // the character in front of the next word
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(" \n"), text.size());
    const bool breaks = before == '\n' || (before == ' ' && column + 1 + end > kWidth);
    if (breaks) {
      wrapped += '\n';
      if (end > 0) wrapped.append(indent, ' ');
      column = indent;
    } else if (before == ' ') {
      wrapped += ' ';
      ++column;
    }
    wrapped += text.substr(0, end);
    column += end;
    before = end < text.size() ? text[end] : '\0';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return wrapped;
}

// Appends two columns: headings, and what they mean.
class Columns {
 public:
  void Add(std::string heading, std::string meaning) { rows_.emplace_back(std::move(heading), std::move(meaning)); }

  std::string Text(std::string_view title) const {
    if (rows_.empty()) return {};
    size_t width = 0;
    for (const auto& [heading, meaning] : rows_) {
      if (heading.size() <= kWidestHeading) width = std::max(width, heading.size());
    }
    std::string text = fmt::format("\n{}:\n", title);
    const size_t second = kIndent + width + 2;
    for (const auto& [heading, meaning] : rows_) {
      text += fmt::format("{:{}}{:<{}}", "", kIndent, heading, width);
      text += heading.size() > width ? "\n" + std::string(second, ' ') : "  ";
      text += Wrapped(meaning, second) + "\n";
    }
    return text;
  }

 private:
  std::vector<std::pair<std::string, std::string>> rows_;
};

std::string OptionsText(const Command& command) {
  Columns options;
  for (const Option& option : command.options) {
    if (option.shown == Option::Shown::kYes) options.Add(Heading(option), Explanation(option));
  }
  options.Add("-h, --help", "print this help");
  return options.Text("Options");
}

std::string ExamplesText(const Command& command) {
  if (command.examples.empty()) return {};
  std::string text = "\nExamples:\n";
  for (const Example& example : command.examples) {
    text += fmt::format("  {}\n      {}\n", example.line, Wrapped(example.meaning, 6));
  }
  return text;
}

}  // namespace

std::string_view TitleOf(Topic topic) {
  switch (topic) {
    case Topic::kRuns:
      return "Commands that run on a server";
    case Topic::kFiles:
      return "Files of a server";
    case Topic::kServers:
      return "Servers and sandboxes";
    case Topic::kOther:
      return "Other commands";
  }
  return {};
}

std::string HelpOf(std::span<const Command> table) {
  std::string text =
      "Runs commands and file operations for coding agents without trusting them.\n\n"
      "Usage: holdfast COMMAND ...\n";
  for (const Topic topic : {Topic::kRuns, Topic::kFiles, Topic::kServers, Topic::kOther}) {
    Columns commands;
    for (const Command& command : table) {
      if (command.topic == topic) commands.Add(command.name, command.summary);
    }
    text += commands.Text(TitleOf(topic));
  }
  return text + "\nholdfast help COMMAND explains a command and shows examples.\n";
}

std::string HelpOf(const Command& command) {
  std::string text = fmt::format("Usage: {}\n\n{}\n", Synopsis(command), Wrapped(command.summary, 0));
  if (!command.description.empty()) text += fmt::format("\n{}\n", Wrapped(command.description, 0));
  Columns arguments, statuses;
  for (const Argument& argument : command.arguments) arguments.Add(argument.name, argument.help);
  for (const ExitStatus& status : command.exit_statuses) statuses.Add(status.code, status.meaning);
  return text + arguments.Text("Arguments") + OptionsText(command) + ExamplesText(command) +
         statuses.Text("Exit status");
}

std::string FamilyHelp(std::span<const Command> table, std::string_view family) {
  Columns members;
  for (const Command& command : table) {
    if (command.name.starts_with(std::string(family) + " ")) members.Add("holdfast " + command.name, command.summary);
  }
  return members.Text("Commands");
}

}  // namespace holdfast::cli
