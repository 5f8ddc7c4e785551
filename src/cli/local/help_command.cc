#include "cli/local/commands.h"

#include <algorithm>
#include <cstdio>
#include <span>
#include <string>

#include <fmt/format.h>

#include "base/version.h"
#include "cli/table/arguments.h"
#include "cli/table/help.h"
#include "cli/table/suggestion.h"
#include "cli/text/complaint.h"

namespace holdfast::cli {
namespace {

int PrintOut(const std::string& text) {
  return std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0 ? 1 : 0;
}

// Returns the help of a command or of a family of commands; empty if there is none.
std::string HelpAbout(std::span<const Command> table, const std::string& name) {
  const auto found = std::ranges::find(table, name, &Command::name);
  return found != table.end() ? HelpOf(*found) : FamilyHelp(table, name);
}

int PrintHelp(const Arguments& arguments) {
  const std::span<const Command> table = arguments.table();
  if (!arguments.Has("COMMAND")) return PrintOut(HelpOf(table));
  std::string name = arguments.ValueOr("COMMAND", "");
  if (const auto member = arguments.Value("SUBCOMMAND")) name += " " + *member;
  const std::string text = HelpAbout(table, name);
  if (!text.empty()) return PrintOut(text);
  PrintComplaint("holdfast help", UnknownCommandText(table, name));
  return kWrongUse;
}

int PrintVersion(const Arguments&) { return PrintOut(fmt::format("holdfast {}\n", kVersion)); }

}  // namespace

Command HelpCommand() {
  return {.name = "help",
          .topic = Topic::kOther,
          .summary = "Explains a command.",
          .arguments = {{.name = "COMMAND",
                         .help = "the command; without it, all commands are listed",
                         .count = Argument::Count::kOptional,
                         .completes = Completes::kCommandName},
                        {.name = "SUBCOMMAND",
                         .help = "the second word of its name, if it has one",
                         .count = Argument::Count::kOptional}},
          .examples = {{"holdfast help run", "Explains run, as holdfast run --help does."}},
          .run = PrintHelp};
}

Command VersionCommand() {
  return {.name = "version",
          .topic = Topic::kOther,
          .summary = "Prints the version of holdfast.",
          .examples = {{"holdfast version", "Prints the version, as holdfast --version does."}},
          .run = PrintVersion};
}

}  // namespace holdfast::cli
