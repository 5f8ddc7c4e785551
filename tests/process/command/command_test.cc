#include "process/command/command.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::process {
namespace {

using Strings = std::vector<std::string>;
using Text = std::optional<std::string>;

constexpr std::string_view kPath = "/a:/b";

// Each row has a text, the command that it means, and the text without a program that means the same command.
TEST(CommandTest, ReconcilesTheProgramWithTheFirstWord) {
  const struct {
    CommandText text;
    std::string program;
    Text search_path;
    Strings argv;
    CommandText again;
  } cases[] = {
      {{.words = {"sh", "-c"}}, "sh", "/a:/b", {"sh", "-c"}, {.words = {"sh", "-c"}}},
      {{.words = {"/bin/sh"}}, "/bin/sh", {}, {"/bin/sh"}, {.words = {"/bin/sh"}}},
      {{.words = {"./sh"}}, "./sh", {}, {"./sh"}, {.words = {"./sh"}}},
      {{.words = {"sh", "x"}, .arg0 = "-sh"}, "sh", "/a:/b", {"-sh", "x"}, {.words = {"sh", "x"}, .arg0 = "-sh"}},
      {{.words = {"/bin/sh"}, .arg0 = ""}, "/bin/sh", {}, {""}, {.words = {"/bin/sh"}, .arg0 = ""}},
      {{.words = {"sh"}, .arg0 = "sh"}, "sh", "/a:/b", {"sh"}, {.words = {"sh"}}},
      {{.program = "/bin/sh", .words = {"name", "x"}},
       "/bin/sh",
       {},
       {"name", "x"},
       {.words = {"/bin/sh", "x"}, .arg0 = "name"}},
      {{.program = "tool", .words = {"tool"}}, "tool", {}, {"tool"}, {.words = {"./tool"}, .arg0 = "tool"}},
      {{.program = "tool", .words = {"name"}, .arg0 = "other"},
       "tool",
       {},
       {"other"},
       {.words = {"./tool"}, .arg0 = "other"}},
      {{.words = {""}}, "", "/a:/b", {""}, {.words = {""}}},
  };
  for (const auto& [text, program, search_path, argv, again] : cases) {
    const Command command = MakeCommand(text, kPath);
    EXPECT_EQ(command, (Command{.program = program, .search_path = search_path, .argv = argv})) << text.words[0];
    EXPECT_EQ(TextOf(command), again) << text.words[0];
  }
}

TEST(CommandTest, ATextStandsForTheSameCommandAsItsTextDoes) {
  for (const CommandText& text : {CommandText{.words = {"sh", "-c"}}, CommandText{.words = {"sh"}, .arg0 = "-sh"},
                                  CommandText{.words = {"/bin/sh"}, .arg0 = "name"}}) {
    const Command command = MakeCommand(text, kPath);
    EXPECT_EQ(MakeCommand(TextOf(command), kPath), command) << text.words[0];
  }
}

TEST(CommandTest, SearchesAsTheCLibraryDoes) {
  EXPECT_EQ(MakeCommand({.words = {"sh"}}, std::nullopt).search_path, "/bin:/usr/bin");
  EXPECT_EQ(MakeCommand({.words = {"sh"}}, "").search_path, ":");
  EXPECT_EQ(MakeCommand({.words = {"sh"}}, ":/x").search_path, ":/x");
}

}  // namespace
}  // namespace holdfast::process
