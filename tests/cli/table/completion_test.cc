// These tests run the scripts in the shells that they are for.
#include "cli/table/completion.h"

#include <unistd.h>

#include <algorithm>
#include <sstream>
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

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> NamesOf(const Command& command) {
  std::vector<std::string> names;
  for (const Option& option : command.options) {
    if (option.shown == Option::Shown::kNo) continue;
    if (!option.flag.empty()) names.push_back(option.flag);
    if (!option.letter.empty()) names.push_back(option.letter);
  }
  return names;
}

// Writes a `holdfast` into the folder whose `ps --quiet` prints names that a hostile server has sent, in several lines
// for a name with a newline, and two harmless ones. A shell that expands or executes any of them makes the file
// `pwned`.
void WriteHoldfastOfAHostileServer(const support::ScratchDir& folder) {
  const std::string names =
      "brave-otter\n$(touch pwned)\n`touch pwned`\nx;touch pwned\nx$(touch pwned)\n${x:=$(touch pwned)}\n" +
      std::string("<(touch pwned)\nweb&touch pwned\ntwo words\n*\n~\n--end\n-rf\n\xc3\xa4\n") +
      "$'\\x24(touch pwned)'\nx\x1b[2J\nx\ttext\nx\xc2\x9b\nx\xff\n" + std::string(65, 'x') + "\n\nweb_2.1\n";
  folder.Write("names", names);
  folder.Write("holdfast", "#!/bin/sh\n[ \"$*\" = 'ps --quiet' ] && cat '" + folder.path() + "/names'\n", 0755);
}

bool Exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

class BashCompletionTest : public testing::Test {
 protected:
  // Returns what bash offers for the last of the words.
  std::vector<std::string> Offers(const std::string& script, std::vector<std::string> words) {
    words.insert(words.begin(), scratch_.path() + "/holdfast");
    std::string line = "cd " + scratch_.path() + "; source " + scratch_.Write("script", script) + "\nCOMP_WORDS=(";
    for (const std::string& word : words) line += ShellQuoted(word) + " ";
    line += ") COMP_CWORD=" + std::to_string(words.size() - 1) +
            "\n_holdfast\n((${#COMPREPLY[@]})) && printf '%s\\n' \"${COMPREPLY[@]}\"";
    const support::Outcome outcome = support::Program({"bash", "--norc", "-c", line}).Finish();
    EXPECT_EQ(outcome.err, "");
    return LinesOf(outcome.out);
  }

  std::vector<std::string> Offers(std::vector<std::string> words) {
    return Offers(BashCompletion(SampleTable()), std::move(words));
  }

  support::ScratchDir scratch_;
};

TEST_F(BashCompletionTest, OffersTheCommands) {
  EXPECT_THAT(Offers({"s"}), UnorderedElementsAre("send", "show"));
  EXPECT_THAT(Offers({""}), IsSupersetOf({"run", "send", "kill", "show", "debug", "--help", "--version"}));
  EXPECT_THAT(Offers({"debug", ""}), ElementsAre("trace"));
}

TEST_F(BashCompletionTest, OffersTheOptionsOfTheCommand) {
  EXPECT_THAT(Offers({"run", "--c"}), UnorderedElementsAre("--cwd", "--colour"));
  EXPECT_THAT(Offers({"debug", "trace", "--d"}), ElementsAre("--deep"));
  EXPECT_THAT(Offers({"run", "--h"}), ElementsAre("--help"));
}

TEST_F(BashCompletionTest, OffersTheValuesOfAnOption) {
  scratch_.Write("folder/file", "");
  EXPECT_THAT(Offers({"run", "--colour", ""}), UnorderedElementsAre("always", "never"));
  EXPECT_THAT(Offers({"run", "--cwd", "f"}), ElementsAre("folder"));
  EXPECT_THAT(Offers({"run", "-C", "f"}), ElementsAre("folder"));
  EXPECT_THAT(Offers({"kill", "-s", "SIGK"}), ElementsAre("SIGKILL"));
  EXPECT_THAT(Offers({"run", "--env", ""}), IsEmpty());
}

TEST_F(BashCompletionTest, OffersUsualValuesBesideOthers) {
  scratch_.Write("tape", "");
  EXPECT_THAT(Offers({"run", "--box", ""}), IsSupersetOf({"tight", "wide", "tape"}));
  EXPECT_THAT(Offers({"run", "--box", "t"}), UnorderedElementsAre("tight", "tape"));
  EXPECT_THAT(Offers({"run", "--box", "w"}), ElementsAre("wide"));
  EXPECT_THAT(Offers({"run", "--box", "x"}), IsEmpty());
  EXPECT_THAT(Offers({"invoke", "fs/"}), UnorderedElementsAre("fs/open", "fs/close"));
}

TEST_F(BashCompletionTest, KnowsTheSandboxesOfRunAndTheMethodsOfCall) {
  const std::string script = BashCompletion(Commands());
  EXPECT_THAT(Offers(script, {"run", "--sandbox", "r"}), ElementsAre("read-only"));
  EXPECT_THAT(Offers(script, {"call", "process/l"}), ElementsAre("process/list"));
}

TEST_F(BashCompletionTest, AsksHoldfastForTheNamesOfRuns) {
  scratch_.Write("holdfast", "#!/bin/sh\n[ \"$*\" = 'ps --quiet' ] && printf 'brave-otter\\nweb\\n'\n", 0755);
  EXPECT_THAT(Offers({"kill", ""}), UnorderedElementsAre("brave-otter", "web"));
  EXPECT_THAT(Offers({"kill", "-s", "KILL", "brave-otter", "w"}), ElementsAre("web"));
}

TEST_F(BashCompletionTest, ExecutesNoNameThatAServerSends) {
  WriteHoldfastOfAHostileServer(scratch_);
  EXPECT_THAT(Offers({"kill", ""}), UnorderedElementsAre("brave-otter", "web_2.1"));
  EXPECT_THAT(Offers({"kill", "x"}), IsEmpty());
  EXPECT_THAT(Offers({"kill", "w"}), ElementsAre("web_2.1"));
  EXPECT_FALSE(Exists(scratch_.path() + "/pwned"));
}

TEST_F(BashCompletionTest, OffersArgumentsByTheirPlace) {
  EXPECT_THAT(Offers({"show", "th"}), UnorderedElementsAre("this", "that"));
  EXPECT_THAT(Offers({"run", "--cwd", "/", "bas"}), Contains("bash"));
}

TEST_F(BashCompletionTest, WordsOfTheCommandToRunAreNotOptions) {
  scratch_.Write("--cwd-file", "");
  EXPECT_THAT(Offers({"run", "ls", "--cwd"}), ElementsAre("--cwd-file"));
  EXPECT_THAT(Offers({"run", "--", "ls", "--cwd"}), ElementsAre("--cwd-file"));
}

TEST_F(BashCompletionTest, OffersEveryMemberOfAFamily) {
  const std::string script = BashCompletion(Commands());
  EXPECT_THAT(Offers(script, {"execpolicy", ""}), UnorderedElementsAre("check", "allow"));
  EXPECT_THAT(Offers(script, {"execpolicy", "a"}), ElementsAre("allow"));
}

TEST_F(BashCompletionTest, ACommandMayBeTheHeadOfAFamily) {
  const std::string script = BashCompletion(Commands());
  EXPECT_THAT(Offers(script, {"exec-server", ""}), ElementsAre("forward"));
  EXPECT_THAT(Offers(script, {"exec-server", "--listen", "-"}), Not(Contains("--connect")));
  EXPECT_THAT(Offers(script, {"exec-server", "forward", "--conn"}),
              UnorderedElementsAre("--connect", "--connect-token-file"));
}

TEST_F(BashCompletionTest, OffersEveryOptionOfEveryCommand) {
  const std::string script = BashCompletion(Commands());
  for (const Command& command : Commands()) {
    std::vector<std::string> words = {command.name, "-"};
    if (const size_t blank = command.name.find(' '); blank != std::string::npos) {
      words = {command.name.substr(0, blank), command.name.substr(blank + 1), "-"};
    }
    EXPECT_THAT(Offers(script, words), IsSupersetOf(NamesOf(command))) << command.name;
  }
}

TEST(ZshCompletionTest, NamesEveryOptionOfEveryCommand) {
  const std::string script = ZshCompletion(Commands());
  for (const Command& command : Commands()) {
    for (const std::string& name : NamesOf(command)) EXPECT_THAT(script, HasSubstr(name + "[")) << command.name;
  }
}

TEST(ZshCompletionTest, IsAScriptThatZshAccepts) {
  if (!support::RequireProgram("zsh")) return;
  const support::ScratchDir scratch;
  const std::string script = scratch.Write("_holdfast", ZshCompletion(Commands()));
  const support::Outcome outcome =
      support::Program(
          {"zsh", "-fc", "autoload -U compinit; compinit -D; source " + script + "; print $_comps[holdfast]"})
          .Finish();
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out, "_holdfast\n");
}

TEST(ZshCompletionTest, KnowsTheSandboxesOfRunAndTheMethodsOfCall) {
  const std::string script = ZshCompletion(Commands());
  EXPECT_THAT(script, HasSubstr(":NAME|FILE: _holdfast_words_or_files read-only workspace-write none'"));
  EXPECT_THAT(script, testing::ContainsRegex(":METHOD:\\(environment/info [a-zA-Z/ ]*process/list "));
}

// The test runs the function that completes a run, with a compadd that prints what it is given.
TEST(ZshCompletionTest, OffersNoHostileNameThatAServerSends) {
  if (!support::RequireProgram("zsh")) return;
  const support::ScratchDir scratch;
  WriteHoldfastOfAHostileServer(scratch);
  const std::string script = scratch.Write("_holdfast", ZshCompletion(Commands()));
  const support::Outcome outcome =
      support::Program({"zsh", "-fc",
                        "cd " + scratch.path() + "; path=($PWD $path); autoload -U compinit; compinit -D; source " +
                            script + "; compadd() { print -rl -- ${(P)2}; }; _holdfast_runs"})
          .Finish();
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(LinesOf(outcome.out), UnorderedElementsAre("brave-otter", "web_2.1"));
  EXPECT_FALSE(Exists(scratch.path() + "/pwned"));
}

TEST(FishCompletionTest, NamesEveryOptionOfEveryCommand) {
  const std::string script = FishCompletion(Commands());
  for (const Command& command : Commands()) {
    for (const Option& option : command.options) {
      if (option.shown == Option::Shown::kNo) continue;
      if (!option.flag.empty()) EXPECT_THAT(script, HasSubstr(" -l " + option.flag.substr(2) + " ")) << command.name;
      if (!option.letter.empty())
        EXPECT_THAT(script, HasSubstr(" -s " + option.letter.substr(1) + " ")) << command.name;
    }
  }
}

TEST(FishCompletionTest, IsAScriptThatFishAccepts) {
  if (!support::RequireProgram("fish")) return;
  const support::ScratchDir scratch;
  const std::string script = scratch.Write("holdfast.fish", FishCompletion(Commands()));
  const support::Outcome outcome = support::Program({"fish", "--no-config", script}).Finish();
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
}

TEST(FishCompletionTest, OffersCommandsOptionsAndValues) {
  if (!support::RequireProgram("fish")) return;
  const support::ScratchDir scratch;
  const std::string script = scratch.Write("holdfast.fish", FishCompletion(SampleTable()));
  const auto offers = [&](const std::string& line) {
    return support::Program({"fish", "--no-config", "-c", "source " + script + "; complete -C " + FishQuoted(line)})
        .Finish()
        .out;
  };
  EXPECT_THAT(offers("holdfast "), HasSubstr("kill\tSends a signal."));
  EXPECT_THAT(offers("holdfast run --co"), HasSubstr("--colour\t"));
  EXPECT_THAT(offers("holdfast run --colour "), HasSubstr("always"));
  EXPECT_THAT(offers("holdfast kill --co"), Not(HasSubstr("--colour")));
}

// Returns what fish offers for the line, in which `holdfast` is a program that knows two runs.
std::vector<std::string> OffersOfFish(const std::string& script_text, const std::string& line) {
  const support::ScratchDir scratch;
  scratch.Write("holdfast", "#!/bin/sh\n[ \"$*\" = 'ps --quiet' ] && printf 'web\\nrun\\n'\n", 0755);
  scratch.Write("some-program", "", 0755);
  scratch.Write("tape", "");
  const std::string script = scratch.Write("holdfast.fish", script_text);
  const support::Outcome outcome =
      support::Program({"fish", "--no-config", "-c",
                        "cd " + scratch.path() + "; set PATH $PWD /usr/bin /bin; source " + script + "; complete -C " +
                            FishQuoted(line) + " | string replace --regex '\\t.*' ''"})
          .Finish();
  EXPECT_EQ(outcome.err, "");
  return LinesOf(outcome.out);
}

// A run may have the name of a command.
TEST(FishCompletionTest, OffersRunsWhereARunIsWantedAndProgramsWhereOneIs) {
  if (!support::RequireProgram("fish")) return;
  const std::string script = FishCompletion(SampleTable());
  EXPECT_THAT(OffersOfFish(script, "holdfast kill "), UnorderedElementsAre("web", "run"));
  EXPECT_THAT(OffersOfFish(script, "holdfast kill run "), UnorderedElementsAre("web", "run"));
  EXPECT_THAT(OffersOfFish(script, "holdfast send run "), Not(Contains("some-program")));
  EXPECT_THAT(OffersOfFish(script, "holdfast run some"), ElementsAre("some-program"));
  EXPECT_THAT(OffersOfFish(script, "holdfast run --cwd / some"), ElementsAre("some-program"));
  EXPECT_THAT(OffersOfFish(script, "holdfast run cat ta"), ElementsAre("tape"));
  EXPECT_THAT(OffersOfFish(script, "holdfast debug "), ElementsAre("trace"));
  EXPECT_THAT(OffersOfFish(script, "holdfast debug trace --d"), ElementsAre("--deep"));
}

TEST(FishCompletionTest, OffersUsualValuesBesideOthers) {
  if (!support::RequireProgram("fish")) return;
  const std::string script = FishCompletion(SampleTable());
  EXPECT_THAT(OffersOfFish(script, "holdfast run --box t"), UnorderedElementsAre("tight", "tape"));
  EXPECT_THAT(OffersOfFish(script, "holdfast invoke fs/"), UnorderedElementsAre("fs/open", "fs/close"));
  const std::string all = FishCompletion(Commands());
  EXPECT_THAT(OffersOfFish(all, "holdfast run --sandbox r"), ElementsAre("read-only"));
  EXPECT_THAT(OffersOfFish(all, "holdfast call process/l"), ElementsAre("process/list"));
}

TEST(FishCompletionTest, OffersNoHostileNameThatAServerSends) {
  if (!support::RequireProgram("fish")) return;
  const support::ScratchDir scratch;
  WriteHoldfastOfAHostileServer(scratch);
  const std::string script = scratch.Write("holdfast.fish", FishCompletion(SampleTable()));
  const support::Outcome outcome = support::Program({"fish", "--no-config", "-c",
                                                     "cd " + scratch.path() + "; set PATH $PWD $PATH; source " +
                                                         script + "; complete -C 'holdfast kill '"})
                                       .Finish();
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(LinesOf(outcome.out), UnorderedElementsAre("brave-otter", "web_2.1"));
  EXPECT_FALSE(Exists(scratch.path() + "/pwned"));
}

}  // namespace
}  // namespace holdfast::cli
