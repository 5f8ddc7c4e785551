// Tests of the protocol around calls: the handshake, the lists, errors, the sandbox state and the end.
#include "mcp/server.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/version.h"
#include "mcp/server_fixture.h"

namespace holdfast::mcp {
namespace {

using support::Message;
using testing::ElementsAre;
using testing::HasSubstr;

class ServerTest : public ServerFixture {
 protected:
  std::string VersionFor(std::string_view wanted) {
    Request(1, "initialize", fmt::format(R"({{"protocolVersion":"{}","capabilities":{{}}}})", wanted));
    return Receive().Text("result.protocolVersion");
  }
};

TEST_F(ServerTest, IntroducesItself) {
  Request(1, "initialize", R"({"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c"}})");
  const Message answer = Receive();
  EXPECT_EQ(answer.Text("jsonrpc"), "2.0");
  EXPECT_EQ(answer.Number("id"), 1);
  EXPECT_EQ(answer.Text("result.protocolVersion"), "2025-06-18");
  EXPECT_EQ(answer.Text("result.serverInfo.name"), "holdfast");
  EXPECT_EQ(answer.Text("result.serverInfo.version"), kVersion);
  EXPECT_TRUE(answer.Has("result.capabilities.tools"));
  const wire::Json experimental = answer.json().Find("result").Find("capabilities").Find("experimental");
  EXPECT_EQ(experimental.Find("codex/sandbox-state").size(), 1u);
  EXPECT_EQ(experimental.Find("codex/sandbox-state-meta").size(), 1u);
}

TEST_F(ServerTest, SpeaksAnOlderVersionToAnOlderClient) { EXPECT_EQ(VersionFor("2024-11-05"), "2024-11-05"); }
TEST_F(ServerTest, SpeaksTheMiddleVersionToo) { EXPECT_EQ(VersionFor("2025-03-26"), "2025-03-26"); }
TEST_F(ServerTest, SpeaksTheNewestVersion) { EXPECT_EQ(VersionFor("2025-11-25"), "2025-11-25"); }
TEST_F(ServerTest, OffersItsNewestVersionInsteadOfAnUnknownOne) { EXPECT_EQ(VersionFor("2099-01-01"), "2025-11-25"); }

TEST_F(ServerTest, AnswersOnlyAPingBeforeItIsInitialized) {
  Request(1, "ping");
  EXPECT_TRUE(Receive().Has("result"));
  Request(2, "tools/list");
  const Message refused = Receive();
  EXPECT_EQ(refused.error_code(), -32600);
  EXPECT_THAT(refused.Text("error.message"), HasSubstr("initialize"));
  Initialize();
  Request(3, "tools/list");
  EXPECT_EQ(Receive().Text("result.tools.0.name"), "shell");
}

TEST_F(ServerTest, IsInitializedOnce) {
  Initialize();
  Request(1, "initialize", R"({"protocolVersion":"2025-06-18","capabilities":{}})");
  EXPECT_EQ(Receive().error_code(), -32600);
}

TEST_F(ServerTest, HasNoResourcesAndNoPrompts) {
  Initialize();
  Request(1, "resources/list");
  EXPECT_EQ(Receive().Size("result.resources"), 0u);
  Request(2, "prompts/list");
  EXPECT_EQ(Receive().Size("result.prompts"), 0u);
}

TEST_F(ServerTest, NamesTheMethodThatItDoesNotKnow) {
  Initialize();
  for (const char* method : {"logging/setLevel", "codex/other"}) {
    Request(1, method);
    const Message refused = Receive();
    EXPECT_EQ(refused.error_code(), -32601);
    EXPECT_EQ(refused.Text("error.message"), method);
  }
}

TEST_F(ServerTest, TakesAnIdThatIsAString) {
  Send(R"({"jsonrpc":"2.0","id":"a","method":"ping"})");
  EXPECT_EQ(Receive().Text("id"), "a");
}

TEST_F(ServerTest, AnswersABadLineAndGoesOn) {
  Send("this is not JSON");
  const Message refused = Receive();
  EXPECT_EQ(refused.error_code(), -32700);
  EXPECT_TRUE(refused.IsNull("id"));
  Send("[]");
  EXPECT_EQ(Receive().error_code(), -32600);
  Send(R"({"jsonrpc":"2.0","id":99,"result":{}})");
  EXPECT_EQ(Receive().error_code(), -32600);
  Request(1, "ping");
  EXPECT_TRUE(Receive().Has("result"));
}

TEST_F(ServerTest, TakesAStringOrAnIntegerForAProgressToken) {
  Initialize();
  for (const char* token : {"{}", "[]", "true", "1.5", "1e3"}) {
    Call(1, "true", "", fmt::format(R"({{"progressToken":{}}})", token));
    const Message refused = Receive();
    EXPECT_EQ(refused.error_code(), -32602) << token;
    EXPECT_EQ(refused.Text("error.message"), "progressToken: is neither a string nor an integer");
  }
  for (const char* token : {"\"a\"", "-7", "null"}) {
    Call(2, "true", "", fmt::format(R"({{"progressToken":{}}})", token));
    EXPECT_EQ(ReceiveResult(2).Number("exit_code"), 0) << token;
  }
}

// The transport delivers an empty message in the place of one that is too long.
TEST_F(ServerTest, AnswersAMessageThatIsTooLong) {
  Send("");
  const Message refused = Receive();
  EXPECT_EQ(refused.error_code(), -32600);
  EXPECT_TRUE(refused.IsNull("id"));
  EXPECT_EQ(refused.Text("error.message"), "a message is longer than 4194304 bytes");
}

TEST_F(ServerTest, LeavesUnknownNotificationsUnanswered) {
  Initialize();
  Send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  Send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}})");
  Send(R"({"jsonrpc":"2.0","method":"notifications/cancelled"})");
  EXPECT_EQ(unread(), 0u);
}

TEST_F(ServerTest, RefusesAnotherTool) {
  Initialize();
  Request(1, "tools/call", R"({"name":"nope","arguments":{}})");
  const Message refused = Receive();
  EXPECT_EQ(refused.error_code(), -32602);
  EXPECT_THAT(refused.Text("error.message"), HasSubstr("nope"));
}

TEST_F(ServerTest, RefusesBadArguments) {
  Initialize();
  Request(1, "tools/call", R"({"name":"shell","arguments":{"workdir":"/"}})");
  const Message refused = Receive();
  EXPECT_EQ(refused.error_code(), -32602);
  EXPECT_EQ(refused.Text("error.message"), "command: is missing");
}

TEST_F(ServerTest, TakesTheSandboxOfTheNextCallsFromTheClient) {
  Initialize();
  Call(1, "true");
  (void)ReceiveResult(1);
  Request(2, "codex/sandbox-state/update",
          R"({"sandboxPolicy":{"type":"danger-full-access"},"sandboxCwd":"/else","codexLinuxSandboxExe":null})");
  EXPECT_TRUE(Receive().Has("result"));
  Call(3, "true");
  (void)ReceiveResult(3);
  EXPECT_THAT(sandboxes_, ElementsAre("/server", "/else"));
}

TEST_F(ServerTest, TakesTheSandboxOfACallFromThatCall) {
  Initialize();
  Call(1, "true", "", R"({"codex/sandbox-state-meta":{"permissionProfile":{"type":"disabled"},"sandboxCwd":"/call"}})");
  (void)ReceiveResult(1);
  Call(2, "true");
  (void)ReceiveResult(2);
  EXPECT_THAT(sandboxes_, ElementsAre("/call", "/server"));
}

TEST_F(ServerTest, RunsNothingInASandboxOfACallThatItDoesNotUnderstand) {
  Initialize();
  Call(1, "true", "", R"({"codex/sandbox-state-meta":{"permissionProfile":{"type":"open"},"sandboxCwd":"/call"}})");
  const Message refused = Receive();
  EXPECT_EQ(refused.error_code(), -32602);
  EXPECT_THAT(refused.Text("error.message"), HasSubstr("codex/sandbox-state-meta: permissionProfile: "));
  EXPECT_THAT(sandboxes_, ElementsAre());
}

TEST_F(ServerTest, RefusesASandboxThatItDoesNotUnderstand) {
  Initialize();
  Request(1, "codex/sandbox-state/update", R"({"bad":1})");
  EXPECT_EQ(Receive().error_code(), -32602);
  Send(R"({"jsonrpc":"2.0","id":2,"method":"codex/sandbox-state/update"})");
  EXPECT_EQ(Receive().error_code(), -32602);
}

TEST_F(ServerTest, KillsItsCallsWhenTheClientIsGone) {
  Initialize();
  Call(1, "sleep 1000 & echo $!; sleep 1000", R"(,"timeout_ms":600000)", R"({"progressToken":1})");
  const pid_t background = std::stoi(Receive().Text("params.message"));
  EXPECT_TRUE(support::IsAlive(background));
  transport_->Disconnect();
  EXPECT_EQ(interceptor_.ended, 1);
  EXPECT_TRUE(support::RunUntil(loop_, [&] { return over_; }));
  EXPECT_FALSE(support::IsAlive(background));
}

TEST_F(ServerTest, KillsItsCallsWhenItIsToldToStop) {
  Initialize();
  Call(1, "echo $$; sleep 1000", R"(,"timeout_ms":600000)", R"({"progressToken":1})");
  const pid_t shell = std::stoi(Receive().Text("params.message"));
  server_->Shutdown();
  EXPECT_TRUE(support::RunUntil(loop_, [&] { return over_; }));
  EXPECT_FALSE(support::IsAlive(shell));
  EXPECT_EQ(unread(), 0u);
}

TEST_F(ServerTest, EndsWithoutCallsAtOnce) {
  transport_->Disconnect();
  EXPECT_TRUE(over_);
}

}  // namespace
}  // namespace holdfast::mcp
