// Tests of the commands that explain holdfast, and of what the built program says to wrong use.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_fixture.h"
#include "cli/commands.h"

namespace holdfast::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

using HelpCommandTest = CommandFixture;

TEST_F(HelpCommandTest, ExplainsACommand) {
  EXPECT_EQ(Output("holdfast help run"), Output("holdfast run --help"));
  EXPECT_EQ(Output("holdfast help exec-server forward"), Output("holdfast exec-server forward --help"));
  EXPECT_EQ(Output("holdfast help execpolicy"), Output("holdfast execpolicy --help"));
}

TEST_F(HelpCommandTest, ListsAllCommandsWithoutOne) {
  const std::string list = Output("holdfast --help");
  EXPECT_EQ(Output("holdfast help"), list);
  EXPECT_EQ(Output("holdfast"), list);
}

TEST_F(HelpCommandTest, SaysWhichCommandWasProbablyMeant) {
  EXPECT_EQ(Refusal("holdfast help lgos", 2), "holdfast help: unknown command lgos (did you mean logs?)\n");
  EXPECT_EQ(Refusal("holdfast man lgos", 2), "holdfast man: unknown command lgos (did you mean logs?)\n");
  EXPECT_THAT(Refusal("holdfast lgos", 2), HasSubstr("did you mean logs?"));
}

TEST_F(HelpCommandTest, TellsTheVersion) {
  EXPECT_THAT(Output("holdfast version"), MatchesRegex("holdfast [0-9.]+\n"));
  EXPECT_EQ(Output("holdfast version"), Output("holdfast --version"));
}

// No server is there, so these mistakes are found before one is asked.
TEST_F(HelpCommandTest, EveryCommandExitsWithTwoAfterWrongUse) {
  for (const Command& command : Commands()) {
    if (command.name.starts_with("execpolicy") || command.name == "debug landlock" || command.name == "sandbox")
      continue;
    EXPECT_THAT(Refusal("holdfast " + command.name + " --nonsense", 2), HasSubstr("unknown option --nonsense"));
  }
  for (const char* line : {"run",
                           "run --timeout soon true",
                           "run --escape much true",
                           "run --name 'a b' true",
                           "attach",
                           "attach --escape much x",
                           "wait",
                           "wait --timeout soon x",
                           "logs --since-seq x y",
                           "kill -s NONSENSE x",
                           "call --timeout soon x",
                           "cp x",
                           "cp x y",
                           "completion csh",
                           "man nothing",
                           "exec-server --max-sessions many",
                           "exec-server --log-level loud",
                           "mcp-server --shell /none",
                           "mcp-server --strict --intercept wrapper",
                           "doctor x",
                           "rendezvous",
                           "exec-server forward",
                           "execpolicy",
                           "execpolicy check ls",
                           "debug",
                           "sandbox"}) {
    Refusal(std::string("holdfast ") + line, 2);
  }
}

TEST_F(HelpCommandTest, OptionsOfOtherProgramsGetAHint) {
  for (const char* option : {"-v /a:/b", "--volume=/a:/b", "-p 80:80", "--publish 80:80", "--memory 1g", "-m 1g",
                             "--cpus 2", "--rm", "--workdir /", "--user root", "-u root", "--env-file x",
                             "--entrypoint sh", "--privileged", "--restart always", "--interactive", "-n default"}) {
    EXPECT_THAT(Refusal(std::string("holdfast run ") + option + " ls", 2),
                HasSubstr("holdfast run: there is no option -"));
  }
  for (const char* line :
       {"ps -a", "ps --all", "logs --tail 5 x", "kill -9 x", "attach --detach-keys x y", "cp -R a :b"}) {
    EXPECT_THAT(Refusal(std::string("holdfast ") + line, 2), HasSubstr("there is no option -"));
  }
}

}  // namespace
}  // namespace holdfast::cli
