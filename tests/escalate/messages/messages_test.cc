#include "escalate/messages/messages.h"

#include <gtest/gtest.h>

namespace holdfast::escalate {
namespace {

using exec_policy::Action;

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

TEST(HandOverTest, RefusesNumbersOutOfRange) {
  for (const char* text : {
           R"({"fds":[-1]})",
           R"({"fds":[4294967296]})",
           R"({"fds":["0"]})",
           R"({"fds":0})",
           R"({})",
       }) {
    EXPECT_FALSE(DecodeHandOver(text)) << text;
  }
  const HandOver many{.fds = std::vector<int>(254, 1)};
  EXPECT_FALSE(DecodeHandOver(Encode(many)));
}

TEST(ExitCodeTest, IsWrittenAsPublishedWrappersReadIt) { EXPECT_EQ(Encode(ExitCode{42}), R"({"exit_code":42})"); }

TEST(ExitCodeTest, IsTakenModulo256) {
  const auto code = [](const char* text) { return DecodeExitCode(text)->exit_code; };
  EXPECT_EQ(code(R"({"exit_code":255})"), 255);
  EXPECT_EQ(code(R"({"exit_code":256})"), 0);
  EXPECT_EQ(code(R"({"exit_code":-1})"), 255);
  EXPECT_EQ(code(R"({"exit_code":300})"), 44);
}

TEST(ExitCodeTest, IsRefusedIfItIsMissingOrNotANumber) {
  for (const char* text : {R"({})", R"({"exit_code":"0"})", R"({"exit_code":null})"}) {
    EXPECT_FALSE(DecodeExitCode(text)) << text;
  }
}

}  // namespace
}  // namespace holdfast::escalate
