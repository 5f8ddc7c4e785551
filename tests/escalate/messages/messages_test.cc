#include "escalate/messages/messages.h"

#include <csignal>

#include <gtest/gtest.h>

namespace holdfast::escalate {
namespace {

using exec_policy::Action;
using Kind = CommandNews::Kind;

TEST(ExecAnswerTest, IsWrittenAsPublishedWrappersReadIt) {
  EXPECT_EQ(Encode(ExecAnswer{.action = Action::kRun}), R"({"action":"Run"})");
  EXPECT_EQ(Encode(ExecAnswer{.action = Action::kEscalate}), R"({"action":"Escalate"})");
  EXPECT_EQ(Encode(ExecAnswer{.action = Action::kDeny}), R"({"action":{"Deny":{"reason":null}}})");
  EXPECT_EQ(Encode(ExecAnswer{.action = Action::kDeny, .reason = "be\"cause"}),
            R"({"action":{"Deny":{"reason":"be\"cause"}}})");
}

TEST(ExecAnswerTest, IsReadAsPublishedServersWriteIt) {
  EXPECT_EQ(DecodeAnswer(R"({"action":"Run","more":1})"), (ExecAnswer{.action = Action::kRun}));
  EXPECT_EQ(DecodeAnswer(R"({"action":"Escalate"})"), (ExecAnswer{.action = Action::kEscalate}));
  EXPECT_EQ(DecodeAnswer(R"({"action":{"Deny":{"reason":"because"}}})"),
            (ExecAnswer{.action = Action::kDeny, .reason = "because"}));
  EXPECT_EQ(DecodeAnswer(R"({"action":{"Deny":{"reason":null}}})"), (ExecAnswer{.action = Action::kDeny}));
}

TEST(ExecAnswerTest, AnnouncesThatTheServerTakesEverything) {
  const ExecAnswer answer{.action = Action::kEscalate, .takes_everything = true};
  EXPECT_EQ(DecodeAnswer(Encode(answer)), answer);
}

TEST(ExecAnswerTest, RefusesAnUnknownAction) {
  for (const char* text : {R"({"action":"Maybe"})", R"({"action":"Deny"})", R"({"action":{"Run":{}}})", R"({})",
                           R"({"action":null})", R"({"action":{"Deny":{"reason":1}}})", "Run", ""}) {
    EXPECT_FALSE(DecodeAnswer(text)) << text;
  }
}

TEST(HandOverTest, IsWrittenAndReadAsInThePublishedProtocol) {
  const HandOver streams{.fds = {0, 1, 2}};
  EXPECT_EQ(Encode(streams), R"({"fds":[0,1,2]})");
  EXPECT_EQ(DecodeHandOver(R"({"fds":[0,1,2]})"), streams);
  EXPECT_EQ(DecodeHandOver(R"({"fds":[]})"), HandOver{});
}

TEST(HandOverTest, CarriesTheStateOfTheProcess) {
  const HandOver message{
      .fds = {0, 9},
      .state = ProcessState{.umask = 077, .nice = -5, .ignored_signals = 1, .blocked_signals = uint64_t{1} << 63}};
  EXPECT_EQ(DecodeHandOver(Encode(message)), message);
}

TEST(HandOverTest, RefusesNumbersOutOfRange) {
  for (const char* text : {
           R"({"fds":[-1]})",
           R"({"fds":[4294967296]})",
           R"({"fds":["0"]})",
           R"({"fds":0})",
           R"({})",
           R"({"fds":[],"state":{"umask":512,"ignoredSignals":0,"blockedSignals":0,"nice":0}})",
           R"({"fds":[],"state":{"umask":0,"ignoredSignals":-1,"blockedSignals":0,"nice":0}})",
           R"({"fds":[],"state":{"umask":0,"ignoredSignals":0,"blockedSignals":0,"nice":20}})",
           R"({"fds":[],"state":{}})",
       }) {
    EXPECT_FALSE(DecodeHandOver(text)) << text;
  }
  const HandOver many{.fds = std::vector<int>(254, 1)};
  EXPECT_FALSE(DecodeHandOver(Encode(many)));
}

TEST(CommandNewsTest, IsWrittenAsPublishedWrappersReadIt) {
  EXPECT_EQ(Encode(CommandNews{.exit_code = 42}), R"({"exit_code":42})");
  EXPECT_EQ(Encode(CommandNews{.exit_code = 143, .signal = SIGTERM}), R"({"exit_code":143,"signal":15})");
  EXPECT_EQ(Encode(CommandNews{.exit_code = 126, .reason = "no room"}), R"({"exit_code":126,"reason":"no room"})");
}

TEST(CommandNewsTest, TakesExitCodesModulo256) {
  const auto code = [](const char* text) { return DecodeNews(text)->exit_code; };
  EXPECT_EQ(code(R"({"exit_code":255})"), 255);
  EXPECT_EQ(code(R"({"exit_code":256})"), 0);
  EXPECT_EQ(code(R"({"exit_code":-1})"), 255);
  EXPECT_EQ(code(R"({"exit_code":300})"), 44);
}

TEST(CommandNewsTest, TellsWhyACommandCouldNotBeStarted) {
  const CommandNews failure{.exit_code = 126, .reason = "no room"};
  EXPECT_EQ(DecodeNews(Encode(failure)), failure);
}

TEST(CommandNewsTest, TellsOfAStop) {
  const CommandNews stop{.kind = Kind::kStopped, .signal = SIGTSTP, .continue_count = 3};
  EXPECT_EQ(DecodeNews(Encode(stop)), stop);
}

TEST(CommandNewsTest, RefusesWhatIsNoNews) {
  for (const char* text : {R"({})", R"({"exit_code":"0"})", R"({"exit_code":0,"signal":0})",
                           R"({"exit_code":0,"signal":65})", R"({"stopped":0})"}) {
    EXPECT_FALSE(DecodeNews(text)) << text;
  }
}

TEST(PassedSignalTest, IsANumberThatIsASignal) {
  EXPECT_EQ(DecodeSignal(EncodeSignal(SIGTERM)), SIGTERM);
  for (const char* text : {R"({"signal":0})", R"({"signal":65})", R"({"signal":-1})", R"({})"}) {
    EXPECT_FALSE(DecodeSignal(text)) << text;
  }
}

}  // namespace
}  // namespace holdfast::escalate
