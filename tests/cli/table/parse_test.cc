#include "cli/table/parse.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/table/sample_table.h"

namespace holdfast::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class ParseTest : public testing::Test {
 protected:
  std::expected<Arguments, Answered> Read(const std::vector<std::string>& words) const { return Parse(table_, words); }

  std::vector<std::string> Words(const std::vector<std::string>& words, std::string_view name) const {
    const auto arguments = Read(words);
    EXPECT_TRUE(arguments.has_value()) << arguments.error().err;
    return arguments ? arguments->Values(name) : std::vector<std::string>();
  }

  Answered Refusal(const std::vector<std::string>& words) const {
    const auto arguments = Read(words);
    EXPECT_FALSE(arguments.has_value()) << testing::PrintToString(words);
    return arguments ? Answered{} : arguments.error();
  }

  const CommandTable table_{kSampleRows};
};

TEST_F(ParseTest, FindsTheRowOfTheCommand) {
  EXPECT_EQ(Read({"run", "true"})->command().name, "run");
  EXPECT_EQ(Read({"debug", "trace"})->command().name, "debug trace");
}

TEST_F(ParseTest, TheCommandToRunBeginsWithTheFirstWordThatIsNoOption) {
  EXPECT_THAT(Words({"run", "-t", "ls", "-t", "--", "--cwd"}, "COMMAND"), ElementsAre("ls", "-t", "--", "--cwd"));
  EXPECT_THAT(Words({"run", "--", "-t"}, "COMMAND"), ElementsAre("-t"));
  EXPECT_THAT(Words({"run", "--cwd", "/", "ls"}, "COMMAND"), ElementsAre("ls"));
  EXPECT_THAT(Words({"run", "--cwd=/", "ls"}, "COMMAND"), ElementsAre("ls"));
  EXPECT_THAT(Words({"run", "-C", "/", "ls"}, "COMMAND"), ElementsAre("ls"));
  EXPECT_THAT(Words({"run", "-C/", "ls"}, "COMMAND"), ElementsAre("ls"));
  EXPECT_THAT(Words({"run", "-tC", "/", "ls"}, "COMMAND"), ElementsAre("ls"));
  EXPECT_THAT(Words({"run", "-dt", "ls"}, "COMMAND"), ElementsAre("ls"));
}

TEST_F(ParseTest, ARestMayBeginAtAnOptionThatTheCommandDoesNotHave) {
  EXPECT_THAT(Words({"judge", "-f", "a", "-x", "-q"}, "WORDS"), ElementsAre("-x", "-q"));
  EXPECT_THAT(Words({"judge", "--file=a", "-q", "--quic", "--help"}, "WORDS"), ElementsAre("--quic", "--help"));
  EXPECT_THAT(Words({"judge", "-fa", "-"}, "WORDS"), ElementsAre("-"));
  EXPECT_THAT(Words({"judge", "--", "-f"}, "WORDS"), ElementsAre("-f"));
  EXPECT_THAT(Words({"judge", "-f", "-x", "b"}, "--file"), ElementsAre("-x"));
  EXPECT_EQ(Refusal({"judge", "-q", "--help"}).status, 0);
  EXPECT_THAT(Refusal({"judge", "-q"}).err, HasSubstr("WORDS is required"));
}

TEST_F(ParseTest, OptionsHaveTheirValuesInEveryForm) {
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"run", "--cwd", "/", "ls"}, {"run", "--cwd=/", "ls"}, {"run", "-C", "/", "ls"}, {"run", "-C/", "ls"}}) {
    EXPECT_THAT(Words(words, "--cwd"), ElementsAre("/"));
  }
  EXPECT_THAT(Words({"run", "-e", "A=1", "--env", "B=2", "ls"}, "--env"), ElementsAre("A=1", "B=2"));
  EXPECT_TRUE(Read({"run", "-dt", "ls"})->Has("--tty"));
  EXPECT_FALSE(Read({"run", "-d", "ls"})->Has("--tty"));
}

TEST_F(ParseTest, AToggleCanBeSwitchedOff) {
  EXPECT_TRUE(Read({"send", "--check", "x"})->Has("--check"));
  EXPECT_TRUE(Read({"send", "--check=true", "x"})->Has("--check"));
  EXPECT_FALSE(Read({"send", "--check=false", "x"})->Has("--check"));
}

TEST_F(ParseTest, ArgumentsInFrontOfTheRestAreReadFirst) {
  const std::vector<std::string> words = {"send", "web", "text", "-l"};
  EXPECT_THAT(Words(words, "NAME"), ElementsAre("web"));
  EXPECT_THAT(Words(words, "TEXT"), ElementsAre("text", "-l"));
  EXPECT_THAT(Words({"send", "web"}, "TEXT"), IsEmpty());
  EXPECT_THAT(Words({"send", "web", "--", "-l"}, "TEXT"), ElementsAre("-l"));
}

TEST_F(ParseTest, AnArgumentCanHaveManyWords) {
  EXPECT_THAT(Words({"kill", "a", "-s", "KILL", "b"}, "NAME"), ElementsAre("a", "b"));
  EXPECT_THAT(Words({"kill", "--", "-a"}, "NAME"), ElementsAre("-a"));
}

TEST_F(ParseTest, RefusesMistakesInOneLineThatNamesTheCommand) {
  for (const auto& words : std::vector<std::vector<std::string>>{{"run"},
                                                                 {"run", "--nothing", "ls"},
                                                                 {"run", "--cwd"},
                                                                 {"run", "--first", "--last", "ls"},
                                                                 {"run", "--cwd=/", "--cwd=/tmp", "ls"},
                                                                 {"run", "--colour=maybe", "ls"}}) {
    const Answered refusal = Refusal(words);
    EXPECT_EQ(refusal.status, 2);
    EXPECT_THAT(refusal.err, StartsWith("holdfast run: "));
    EXPECT_EQ(std::ranges::count(refusal.err, '\n'), 1) << refusal.err;
    EXPECT_EQ(refusal.out, "");
  }
  EXPECT_EQ(Refusal({"kill"}).status, 2);
  EXPECT_EQ(Refusal({"show", "those"}).err,
            "holdfast show: WHAT: \"those\" is not one of this|that; see holdfast show --help\n");
  EXPECT_EQ(Refusal({"nothing"}).err, "holdfast: unknown command nothing; see holdfast --help\n");
  EXPECT_EQ(Refusal({"debug"}).err, "holdfast debug: a subcommand is required; see holdfast debug --help\n");
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"show", "those"}, {"nothing"}, {"debug"}, {"debug", "nothing"}, {"--nothing"}}) {
    EXPECT_EQ(Refusal(words).status, 2) << testing::PrintToString(words);
  }
}

TEST_F(ParseTest, SaysWhatIsWrongInTheWordsOfTheUser) {
  EXPECT_EQ(Refusal({"run", "--cwd"}).err, "holdfast run: --cwd needs a value; see holdfast run --help\n");
  EXPECT_EQ(Refusal({"run", "--cwd=/", "-C", "/tmp", "ls"}).err,
            "holdfast run: --cwd may be given once; see holdfast run --help\n");
  EXPECT_EQ(Refusal({"run", "--first", "--last", "ls"}).err,
            "holdfast run: --first and --last exclude each other; see holdfast run --help\n");
  EXPECT_EQ(Refusal({"show", "this", "too", "much"}).err,
            "holdfast show: too many words: too much; see holdfast show --help\n");
}

TEST_F(ParseTest, SaysWhatWasProbablyMeant) {
  EXPECT_EQ(Refusal({"sned", "x"}).err, "holdfast: unknown command sned (did you mean send?); see holdfast --help\n");
  EXPECT_THAT(Refusal({"exec", "ls"}).err, HasSubstr("unknown command exec (did you mean run?)"));
  EXPECT_EQ(Refusal({"debug", "trac"}).err,
            "holdfast debug: unknown command debug trac (did you mean debug trace?); see holdfast debug --help\n");
  EXPECT_EQ(Refusal({"run", "--detatch", "ls"}).err,
            "holdfast run: unknown option --detatch (did you mean --detach?); see holdfast run --help\n");
  EXPECT_EQ(Refusal({"run", "--nothing=1", "ls"}).err,
            "holdfast run: unknown option --nothing; see holdfast run --help\n");
  EXPECT_EQ(Refusal({"run", "-tx", "ls"}).err, "holdfast run: unknown option -x; see holdfast run --help\n");
}

TEST_F(ParseTest, SaysWhatToDoInsteadOfAnOptionOfAnotherProgram) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--memory=1g"}, {"--memory", "1g"}, {"-m", "1g"}, {"-tm1g"}}) {
    std::vector<std::string> line = {"run"};
    line.insert(line.end(), words.begin(), words.end());
    line.emplace_back("ls");
    EXPECT_THAT(Refusal(line).err, HasSubstr(": put a limit in front of the command; see")) << words[0];
  }
  EXPECT_THAT(Words({"run", "ls", "-m"}, "COMMAND"), ElementsAre("ls", "-m"));
  EXPECT_THAT(Words({"run", "--cwd", "-m", "ls"}, "--cwd"), ElementsAre("-m"));
}

TEST_F(ParseTest, ListsTheCommandsWhereNoneIsNamed) {
  EXPECT_EQ(Refusal({}).status, 0);
  EXPECT_EQ(Refusal({}).out, Refusal({"--help"}).out);
  EXPECT_THAT(Refusal({}).out, HasSubstr("Sends a signal."));
}

TEST_F(ParseTest, AnswersRequestsForHelpAndForTheVersion) {
  for (const auto& words : std::vector<std::vector<std::string>>{{"run", "--help"}, {"run", "-t", "-h"}}) {
    const Answered help = Refusal(words);
    EXPECT_EQ(help.status, 0);
    EXPECT_THAT(help.out, HasSubstr("--colour"));
  }
  EXPECT_THAT(Refusal({"--help"}).out, HasSubstr("Sends a signal."));
  EXPECT_THAT(Refusal({"debug", "--help"}).out, HasSubstr("holdfast debug trace"));
  EXPECT_THAT(Refusal({"--version"}).out, testing::MatchesRegex("holdfast [0-9.]+\n"));
}

TEST_F(ParseTest, HelpBehindTheBeginningOfTheCommandToRunBelongsToThatCommand) {
  EXPECT_THAT(Words({"run", "ls", "--help"}, "COMMAND"), ElementsAre("ls", "--help"));
  EXPECT_THAT(Words({"run", "--", "--help"}, "COMMAND"), ElementsAre("--help"));
}

}  // namespace
}  // namespace holdfast::cli
