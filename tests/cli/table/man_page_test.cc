#include "cli/table/man_page.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/commands.h"
#include "cli/table/sample_table.h"
#include "support/program.h"
#include "support/required_program.h"
#include "support/scratch_dir.h"

namespace holdfast::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ManPageTest, EscapesWhatRoffWouldInterpret) {
  Command command = SampleTable()[0];
  command.description = ".hidden files\n'quotes' and \\backslashes";
  const std::string page = ManPage(command);
  EXPECT_THAT(page, HasSubstr("\n\\&.hidden files\n\\&'quotes' and \\ebackslashes\n"));
  EXPECT_THAT(page, HasSubstr(".B \\-C, \\-\\-cwd DIR\n"));
  EXPECT_THAT(page, Not(HasSubstr("hidden X")));
}

TEST(ManPageTest, NamesPagesAfterTheirCommands) {
  EXPECT_EQ(ManPageName(SampleTable()[0]), "holdfast-run");
  EXPECT_EQ(ManPageName(SampleTable()[5]), "holdfast-debug-trace");
}

std::string WithoutEscapes(std::string page) {
  for (size_t at; (at = page.find("\\-")) != std::string::npos;) page.erase(at, 1);
  for (size_t at; (at = page.find("\\e")) != std::string::npos;) page.replace(at, 2, "\\");
  return page;
}

TEST(ManPageTest, EveryOptionOfEveryCommandIsOnItsPage) {
  for (const Command& command : Commands()) {
    const std::string page = WithoutEscapes(ManPage(command));
    for (const Option& option : command.options) {
      if (option.shown == Option::Shown::kYes) EXPECT_THAT(page, HasSubstr(".B " + Heading(option) + "\n"));
    }
    for (const Example& example : command.examples) EXPECT_THAT(page, HasSubstr(example.line));
  }
}

TEST(ManPageTest, TheFirstPageListsAllOthers) {
  const std::string page = WithoutEscapes(ManPage(Commands()));
  for (const Command& command : Commands()) EXPECT_THAT(page, HasSubstr(".BR " + ManPageName(command) + " (1)\n"));
}

TEST(ManPageTest, GroffFormatsEveryPageWithoutAWarning) {
  if (!support::RequireProgram("groff")) return;
  const support::ScratchDir scratch;
  for (const Command& command : Commands()) {
    const std::string path = scratch.Write("page.1", ManPage(command));
    const support::Outcome outcome = support::Program({"groff", "-man", "-Tutf8", "-P-cbou", "-ww", path}).Finish();
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.err, "") << command.name;
    EXPECT_THAT(outcome.out, HasSubstr("SYNOPSIS")) << command.name;
  }
}

}  // namespace
}  // namespace holdfast::cli
