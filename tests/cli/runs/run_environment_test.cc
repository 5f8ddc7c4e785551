// Tests of the variables that a command of `holdfast run` gets.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_fixture.h"

namespace holdfast::cli {
namespace {

using RunEnvironmentTest = ServedCommandFixture;

constexpr char kSecrets[] = "export API_KEY=1 MY_SECRET_X=2 github_token=3 DbPassword=4 HARMLESS=5; ";
constexpr char kPrint[] = "sh -c 'echo $API_KEY $MY_SECRET_X $github_token $DbPassword $HARMLESS'";
constexpr char kNote[] =
    "holdfast run: variables whose names look like secrets are left out: API_KEY, DbPassword, MY_SECRET_X, "
    "github_token; pass one with -e NAME, or all of them with --env-all\n";

TEST_F(RunEnvironmentTest, ASandboxedCommandDoesNotGetWhatLooksLikeASecret) {
  const support::Outcome outcome = Run(std::string(kSecrets) + "holdfast run --read-only -- " + kPrint);
  EXPECT_EQ(outcome.out, "5\n");
  EXPECT_EQ(outcome.err, kNote);
  EXPECT_EQ(outcome.status, 0);
}

TEST_F(RunEnvironmentTest, ACommandWithoutASandboxGetsAll) {
  EXPECT_EQ(Output(std::string(kSecrets) + "holdfast run " + kPrint), "1 2 3 4 5\n");
  EXPECT_EQ(Output(std::string(kSecrets) + "holdfast run --sandbox none " + kPrint), "1 2 3 4 5\n");
}

TEST_F(RunEnvironmentTest, WhatTheUserPassesIsNotLeftOut) {
  EXPECT_EQ(Output(std::string(kSecrets) + "holdfast run --read-only --env-all -- " + kPrint), "1 2 3 4 5\n");
  EXPECT_EQ(Output(std::string(kSecrets) +
                   "holdfast run --read-only -e API_KEY -e MY_SECRET_X=x -e github_token -e DbPassword -- " + kPrint),
            "1 x 3 4 5\n");
  const support::Outcome outcome =
      Run("export A_KEY=1 B_KEY=2; holdfast run --read-only -e A_KEY -- sh -c 'echo $A_KEY'");
  EXPECT_EQ(outcome.out, "1\n");
  EXPECT_THAT(outcome.err, testing::HasSubstr("left out: B_KEY;"));
}

TEST_F(RunEnvironmentTest, TheUrlOfTheServerIsNotPassedWithTheOthers) {
  EXPECT_EQ(Output("HOLDFAST_TOKEN_FILE=/f holdfast run --read-only --env-all -- "
                   "sh -c 'echo $HOLDFAST_SERVER$HOLDFAST_TOKEN_FILE.'"),
            ".\n");
}

// Behind a port the command has the environment of the server, which the user of this program may not know.
TEST_F(RunEnvironmentTest, AnotherMachineKeepsItsSecretsToo) {
  const auto server = support::ServerProcess::Start({.env = {"API_KEY=1", "DB_PASSWORD=2", "HARMLESS=3"}});
  const std::string run = "holdfast run --server " + server.url() + " ";
  const std::string print = "-- sh -c 'echo $API_KEY $DB_PASSWORD $HARMLESS'";
  EXPECT_EQ(Output(run + print), "1 2 3\n");
  EXPECT_EQ(Output(run + "--read-only " + print), "3\n");
  EXPECT_EQ(Output(run + "--read-only --env-all " + print), "1 2 3\n");
  EXPECT_EQ(Output("API_KEY=own " + run + "--read-only -e API_KEY " + print), "own 3\n");
}

}  // namespace
}  // namespace holdfast::cli
