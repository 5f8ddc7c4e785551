#include "cli/table/man_page.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/version.h"
#include "cli/table/help.h"

namespace holdfast::cli {
namespace {

// Escapes the characters that roff would interpret.
std::string Roff(std::string_view text) {
  std::string escaped;
  bool at_line_start = true;
  for (const char c : text) {
    if (at_line_start && (c == '.' || c == '\'')) escaped += "\\&";
    at_line_start = c == '\n';
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string Section(std::string_view title, std::string_view body) {
  return body.empty() ? std::string() : fmt::format(".SH {}\n{}", title, body);
}

std::string Paragraphs(std::string_view text) {
  std::string paragraphs = Roff(text);
  for (size_t at; (at = paragraphs.find("\n\n")) != std::string::npos;) paragraphs.replace(at, 2, "\n.PP\n");
  return paragraphs + "\n";
}

std::string Entry(std::string_view heading, std::string_view meaning) {
  return fmt::format(".TP\n.B {}\n{}\n", Roff(heading), Roff(meaning));
}

std::string Title(std::string name) {
  std::ranges::transform(name, name.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return fmt::format(".TH {} 1 \"\" \"holdfast {}\" \"holdfast manual\"\n", Roff(name), kVersion);
}

std::string Examples(const Command& command) {
  std::string text;
  for (const Example& example : command.examples) {
    text += fmt::format(".PP\n{}\n.PP\n.RS 4\n.nf\n{}\n.fi\n.RE\n", Roff(example.meaning), Roff(example.line));
  }
  return text;
}

// The variables of the environment that commands read, for those commands that talk to a server.
std::string EnvironmentOf(const Command& command) {
  if (std::ranges::find(command.options, "--server", &Option::flag) == command.options.end()) return {};
  return Entry("HOLDFAST_SERVER", "the URL of the server, if --server does not name one") +
         Entry("HOLDFAST_TOKEN_FILE", "the file with the bearer token for the server of HOLDFAST_SERVER") +
         Entry("XDG_RUNTIME_DIR",
               "the directory that has the socket of the private server, in holdfast/; if it is not set, "
               "/run/user/UID, or ~/.cache where the system has not made that") +
         Entry("NO_COLOR", "if it is set and not empty, no colours are used");
}

}  // namespace

std::string ManPageName(const Command& command) {
  std::string name = "holdfast-" + command.name;
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string ManPage(const Command& command) {
  const std::string name = ManPageName(command);
  std::string page = Title(name);
  page += Section("NAME", fmt::format("{} \\- {}\n", Roff(name), Roff(command.summary)));
  page += Section("SYNOPSIS", fmt::format(".B {}\n", Roff(Synopsis(command))));
  page += Section("DESCRIPTION", Paragraphs(command.description.empty() ? command.summary : command.description));
  std::string arguments, options, statuses;
  for (const Argument& argument : command.arguments) arguments += Entry(argument.name, argument.help);
  for (const Option& option : command.options) {
    if (option.shown == Option::Shown::kYes) options += Entry(Heading(option), Explanation(option));
  }
  options += Entry("-h, --help", "print the help");
  for (const ExitStatus& status : command.exit_statuses) statuses += Entry(status.code, status.meaning);
  return page + Section("ARGUMENTS", arguments) + Section("OPTIONS", options) + Section("EXAMPLES", Examples(command)) +
         Section("EXIT STATUS", statuses) + Section("ENVIRONMENT", EnvironmentOf(command)) +
         Section("SEE ALSO", ".BR holdfast (1)\n");
}

std::string ManPage(std::span<const Command> table) {
  std::string page = Title("holdfast");
  page += Section("NAME", "holdfast \\- runs commands and file operations for coding agents without trusting them\n");
  page += Section("SYNOPSIS", ".B holdfast\nCOMMAND ...\n");
  for (const Topic topic : {Topic::kRuns, Topic::kFiles, Topic::kServers, Topic::kOther}) {
    std::string entries;
    for (const Command& command : table) {
      if (command.topic == topic)
        entries += fmt::format(".TP\n.BR {} (1)\n{}\n", Roff(ManPageName(command)), Roff(command.summary));
    }
    std::string title(TitleOf(topic));
    std::ranges::transform(title, title.begin(),
                           [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    page += Section(title, entries);
  }
  return page;
}

}  // namespace holdfast::cli
