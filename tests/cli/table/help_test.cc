#include "cli/table/help.h"

#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/commands.h"
#include "cli/table/sample_table.h"

namespace holdfast::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(HelpTest, ShowsUsageOptionsExamplesAndExitStatuses) {
  const std::vector<Command> table = SampleTable();
  const std::string help = HelpOf(table[0]);
  EXPECT_THAT(help, HasSubstr("Usage: holdfast run [OPTIONS] [--] COMMAND [ARG...]\n"));
  EXPECT_THAT(help, HasSubstr("  -C, --cwd DIR         where\n"));
  EXPECT_THAT(help, HasSubstr("--colour WHEN         colours (always|never)\n"));
  EXPECT_THAT(help, HasSubstr("  holdfast run make\n      Builds.\n"));
  EXPECT_THAT(help, HasSubstr("  125  holdfast itself failed\n"));
  EXPECT_THAT(help, Not(HasSubstr("--hidden")));
}

TEST(HelpTest, ShowsHowAnOptionIsTurnedOff) {
  EXPECT_THAT(HelpOf(SampleTable()[1]), HasSubstr("--check[=true|false]"));
}

TEST(HelpTest, EveryCommandIsListedWithItsSummary) {
  const std::string help = HelpOf(Commands());
  for (const Command& command : Commands()) {
    EXPECT_THAT(help, HasSubstr("  " + command.name + " ")) << command.name;
    EXPECT_FALSE(command.summary.empty()) << command.name;
  }
}

TEST(HelpTest, EveryCommandExplainsEachOptionAndHasAnExample) {
  for (const Command& command : Commands()) {
    const std::string help = HelpOf(command);
    EXPECT_FALSE(command.examples.empty()) << command.name;
    for (const Example& example : command.examples) EXPECT_THAT(help, HasSubstr(example.line));
    for (const Option& option : command.options) {
      if (option.shown == Option::Shown::kNo) continue;
      EXPECT_THAT(help, HasSubstr(Heading(option))) << command.name;
      EXPECT_FALSE(option.help.empty()) << command.name << " " << option.name();
    }
  }
}

TEST(HelpTest, NoLineIsLongerThanAHundredColumns) {
  for (const Command& command : Commands()) {
    std::istringstream lines(HelpOf(command));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 100u) << line;
      EXPECT_THAT(line, Not(testing::EndsWith(" ")));
    }
  }
}

}  // namespace
}  // namespace holdfast::cli
