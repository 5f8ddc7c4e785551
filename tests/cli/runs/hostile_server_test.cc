// What the commands print of the words of a server that wants to command the terminal of its client, or to deceive the
// client's user.
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_fixture.h"
#include "support/message.h"
#include "transport/test_server.h"

namespace holdfast::cli {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

// Clears the screen in two ways, writes from right to left, hides a blank, and forges a line, in the notation of JSON.
constexpr std::string_view kHostile = R"(x\u001b[2J\u009b2J\u202ey\u200b\u2028\nforged)";
constexpr std::string_view kShown = R"(x\x1b[2J\u009b2J\u202ey\u200b\u2028\nforged)";

MATCHER(IsHarmless, "has no character that commands a terminal or deceives a reader") {
  for (const std::string_view bad : {"\x1b", "\u009b", "\u202e", "\u200b", "\u2028", "\nforged"}) {
    if (arg.contains(bad)) return false;
  }
  return true;
}

std::string AnswerTo(std::string_view method) {
  if (method == "initialize") {
    return R"("result":{"sessionId":"S","environmentInfo":{"shell":{"name":"sh","path":"/bin/sh"},"capabilities":{}}})";
  }
  if (method != "session/list") return fmt::format(R"("error":{{"code":-32603,"message":"{}"}})", kHostile);
  return fmt::format(
      R"("result":{{"truncated":false,"sessions":[{{"sessionId":"{0}","sessionName":"{0}",)"
      R"("shared":true,"connections":1,"driver":"{0}","createdAtMs":1,"processes":[{{"processId":"main",)"
      R"("argv":["{0}"],"state":"running","startedAtMs":1,"exitCode":null,"pid":null,)"
      R"("exitedAtMs":null,"outputBytes":0,"inputBytes":0}}]}},{{"sessionId":"T","sessionName":"web",)"
      R"("shared":true,"connections":0,"createdAtMs":1,"processes":[]}}]}})",
      kHostile);
}

void Answer(transport::Peer& peer, std::string_view text) {
  const support::Message message{std::string(text)};
  if (!message.Has("id")) return;
  peer.transport()->Send(fmt::format(R"({{"id":{},{}}})", message.Number("id"), AnswerTo(message.Text("method"))));
}

class HostileServerTest : public CommandFixture {
 protected:
  HostileServerTest() { url_ = hostile_.url(); }

  transport::TestServer hostile_{transport::Limits(), Answer};
};

TEST_F(HostileServerTest, NamesOfRunsAreShownAsEscapes) {
  const std::string list = Output("holdfast ps");
  EXPECT_THAT(list, AllOf(IsHarmless(), HasSubstr(kShown), HasSubstr("\nweb ")));
  EXPECT_EQ(std::count(list.begin(), list.end(), '\n'), 3);
}

TEST_F(HostileServerTest, NamesForProgramsAreOnlyThoseThatARunCanHave) {
  const support::Outcome outcome = Run("holdfast ps --quiet");
  EXPECT_EQ(outcome.out, "web\n");
  EXPECT_THAT(outcome.err, AllOf(IsHarmless(), HasSubstr("is not a name")));
}

TEST_F(HostileServerTest, EverythingAboutARunIsShownAsEscapes) {
  const std::string name = "name=$'x\\x1b[2J\\xc2\\x9b2J\\xe2\\x80\\xaey\\xe2\\x80\\x8b\\xe2\\x80\\xa8\\nforged'; ";
  const std::string text = Output(name + "holdfast inspect \"$name\"");
  EXPECT_THAT(text, AllOf(IsHarmless(), HasSubstr(fmt::format("name:         {}\n", kShown)),
                          HasSubstr(fmt::format("session:      {}\n", kShown)),
                          HasSubstr(fmt::format("driver:       {}\n", kShown))));
  EXPECT_THAT(Refusal(name + "holdfast logs \"$name\"", 1), AllOf(IsHarmless(), HasSubstr("2J")));
  EXPECT_THAT(Refusal(name + "holdfast attach \"$name\" < /dev/null", 125), AllOf(IsHarmless(), HasSubstr("2J")));
  EXPECT_THAT(Refusal(name + "holdfast inspect \"other $name\"", 1), AllOf(IsHarmless(), HasSubstr("no run named")));
}

TEST_F(HostileServerTest, JsonHasTheSameValueInEscapes) {
  const std::string list = Output("holdfast ps --json");
  EXPECT_THAT(list, AllOf(IsHarmless(), EndsWith("}\n")));
  const support::Message message(list);
  EXPECT_EQ(message.Text("sessions.0.sessionName"), "x\x1b[2J\u009b2J\u202ey\u200b\u2028\nforged");
}

TEST_F(HostileServerTest, ErrorsAreShownAsEscapes) {
  for (const char* command : {"ls /", "cat /x", "stat /x", "rm /x", "mkdir /x", "cp :/x y", "call environment/info"}) {
    EXPECT_THAT(Run(std::string("holdfast ") + command).err, AllOf(IsHarmless(), HasSubstr(R"(x\x1b[2J)"))) << command;
  }
}

}  // namespace
}  // namespace holdfast::cli
