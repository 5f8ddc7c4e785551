#include "cli/table/command_table.h"

#include <gtest/gtest.h>

#include "cli/commands.h"

namespace holdfast::cli {
namespace {

int commands_made = 0;

Command Counted(const char* name) {
  ++commands_made;
  return {.name = name, .topic = Topic::kOther, .summary = "", .run = {}};
}

constexpr auto kRows = std::to_array<CommandTable::Row>({
    {"first", [] { return Counted("first"); }},
    {"second", [] { return Counted("second"); }},
});

// To make all rows takes as long as the rest of a short command.
TEST(CommandTableTest, MakesOnlyTheRowThatIsAskedForAndOnce) {
  commands_made = 0;
  const CommandTable table(kRows);
  EXPECT_EQ(table.Find("third"), nullptr);
  EXPECT_EQ(commands_made, 0);
  const Command* const second = table.Find("second");
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->name, "second");
  EXPECT_EQ(table.Find("second"), second);
  EXPECT_EQ(commands_made, 1);
}

TEST(CommandTableTest, HasItsRowsInTheirOrder) {
  const CommandTable table(kRows);
  ASSERT_EQ(table.all().size(), 2u);
  EXPECT_EQ(table.all()[0].name, "first");
  EXPECT_EQ(table.all()[1].name, "second");
}

TEST(CommandTableTest, FindsEveryCommandOfHoldfast) {
  for (const Command& command : Commands()) EXPECT_NE(Table().Find(command.name), nullptr) << command.name;
}

}  // namespace
}  // namespace holdfast::cli
