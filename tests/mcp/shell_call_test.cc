// Tests of calls of the tool `shell`: results, time limits, cancellation, progress and questions.
#include "mcp/shell_call.h"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mcp/server_fixture.h"
#include "support/eventually.h"

namespace holdfast::mcp {
namespace {

using exec_policy::Action;
using support::Message;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kNoLimit[] = R"(,"timeout_ms":600000)";
constexpr char kWithProgress[] = R"({"progressToken":"t"})";

class ShellCallTest : public ServerFixture {
 protected:
  ShellCallTest() { Initialize(); }

  void Cancel(int id) {
    Send(fmt::format(R"({{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{}}}}})", id));
  }
  void AnswerQuestion(int64_t id, std::string_view action) {
    Send(fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{{"action":"{}","content":{{}}}}}})", id, action));
  }
  // Starts a call that asks one question and runs until it is killed. Returns the question.
  Message Ask(std::string_view more = kNoLimit) {
    interceptor_.questions = {{.file = "/usr/bin/git",
                               .argv = {"git", "push"},
                               .cwd = "/w",
                               .reason = "It changes the server.",
                               .when_approved = Action::kEscalate}};
    Call(1, "exec sleep 1000", more);
    return Receive();
  }
  void ExpectDenied(std::string_view reason) {
    ASSERT_EQ(interceptor_.answers.size(), 1u);
    EXPECT_EQ(interceptor_.answers[0].action, Action::kDeny);
    EXPECT_THAT(interceptor_.answers[0].reason, StartsWith(std::string(reason)));
  }
};

TEST_F(ShellCallTest, ReturnsExitCodeAndOutput) {
  Call(1, "echo err >&2; echo out; exit 3");
  const Message result = ReceiveResult(1);
  EXPECT_EQ(result.Number("exit_code"), 3);
  EXPECT_EQ(result.Text("output"), "out\nerr\n");
  EXPECT_FALSE(result.Flag("timed_out"));
  EXPECT_EQ(result.Number("duration.secs"), 0);
  EXPECT_GT(result.Number("duration.nanos"), 0);
}

TEST_F(ShellCallTest, ReturnsTheSameAsStructuredContent) {
  Call(1, "echo out; exit 3");
  const Message answer = Receive();
  EXPECT_EQ(answer.Number("result.structuredContent.exit_code"), 3);
  EXPECT_EQ(answer.Text("result.structuredContent.output"), "out\n");
  const Message text(answer.Text("result.content.0.text"));
  EXPECT_EQ(text.Number("duration.nanos"), answer.Number("result.structuredContent.duration.nanos"));
}

TEST_F(ShellCallTest, ReadsNothingAndRunsInItsDirectory) {
  Call(1, "cat; pwd");
  EXPECT_EQ(ReceiveResult(1).Text("output"), "/\n");
}

TEST_F(ShellCallTest, ReportsDeathByASignal) {
  Call(1, "echo before; kill -KILL $$");
  const Message result = ReceiveResult(1);
  EXPECT_EQ(result.Number("exit_code"), 137);
  EXPECT_EQ(result.Text("output"), "before\n");
}

TEST_F(ShellCallTest, RepairsTextThatIsNotUtf8) {
  Call(1, R"(printf 'a\377b\303\244')");
  EXPECT_EQ(ReceiveResult(1).Text("output"),
            "a\xEF\xBF\xBD"
            "b\xc3\xa4");
}

TEST_F(ShellCallTest, TakesOutputWithoutEndAndKeepsItsBeginning) {
  Call(1, "head -c 3000000 /dev/zero | tr '\\0' x; echo e >&2");
  const std::string output = ReceiveResult(1).Text("output");
  EXPECT_EQ(output.find('e'), kMaxOutputBytes - 2);
  EXPECT_THAT(output, HasSubstr("\n[1951426 bytes were left out: 1951426 of stdout, 0 of stderr]\n"));
}

TEST_F(ShellCallTest, AnswersAStartThatFailsWithAnError) {
  Request(1, "tools/call", R"({"name":"shell","arguments":{"command":"true","workdir":"/no/such/directory"}})");
  const Message refused = Receive();
  EXPECT_EQ(refused.error_code(), -32603);
  EXPECT_EQ(refused.Text("error.message"),
            "enter directory /no/such/directory: No such file or directory (os error 2)");
}

TEST_F(ShellCallTest, AnswersAFailedInterceptionWithItsError) {
  interceptor_.refusal = Error{ErrorKind::kSystem, "no sandbox here"};
  Call(1, "true");
  const Message refused = Receive();
  EXPECT_EQ(refused.error_code(), -32603);
  EXPECT_EQ(refused.Text("error.message"), "no sandbox here");
}

TEST_F(ShellCallTest, EndsWhatTheShellLeavesRunning) {
  Call(1, "sleep 1000 & echo $!");
  const Message result = ReceiveResult(1);
  EXPECT_EQ(result.Number("exit_code"), 0);
  EXPECT_FALSE(support::IsAlive(std::stoi(result.Text("output"))));
  EXPECT_EQ(interceptor_.ended, 1);
}

TEST_F(ShellCallTest, KeepsTheOutputOfACommandThatRunsTooLong) {
  Message result;
  int calls = 0;
  // On a busy machine the shell may come to its first line late; then it gets more time.
  for (const char* const limit : {R"(,"timeout_ms":300)", R"(,"timeout_ms":3000)", R"(,"timeout_ms":30000)"}) {
    Call(++calls, "echo $$; sleep 1000 & wait", limit);
    result = ReceiveResult(calls);
    if (!result.Text("output").empty()) break;
  }
  EXPECT_TRUE(result.Flag("timed_out"));
  EXPECT_EQ(result.Number("exit_code"), 124);
  EXPECT_FALSE(support::IsAlive(std::stoi(result.Text("output"))));
  EXPECT_EQ(interceptor_.ended, calls);
}

TEST_F(ShellCallTest, AnswersAtOnceIfThereIsNoTime) {
  Call(1, "sleep 1000", R"(,"timeout_ms":0)");
  EXPECT_TRUE(ReceiveResult(1).Flag("timed_out"));
}

TEST_F(ShellCallTest, RunsCallsSideBySide) {
  Call(1, "exec sleep 1000", kNoLimit);
  Call(2, "echo two");
  EXPECT_EQ(ReceiveResult(2).Text("output"), "two\n");
}

TEST_F(ShellCallTest, RefusesOneCallTooMany) {
  for (size_t i = 1; i <= Server::kMaxCalls; ++i) Call(static_cast<int>(i), "exec sleep 1000", kNoLimit);
  Call(1000, "true");
  const Message refused = Receive();
  EXPECT_EQ(refused.Number("id"), 1000);
  EXPECT_EQ(refused.error_code(), -32600);
  EXPECT_EQ(transport_->reading, rpc::Reading::kOn);
}

TEST_F(ShellCallTest, RefusesTheIdOfACallThatRuns) {
  Call(1, "exec sleep 1000", kNoLimit);
  Call(1, "true");
  EXPECT_EQ(Receive().error_code(), -32600);
}

TEST_F(ShellCallTest, KillsACancelledCallAndAnswersNothing) {
  Call(1, "echo $$; sleep 1000", kNoLimit, kWithProgress);
  const pid_t shell = std::stoi(Receive().Text("params.message"));
  Cancel(2);
  EXPECT_TRUE(support::IsAlive(shell));
  Cancel(1);
  EXPECT_TRUE(support::RunUntil(loop_, [&] { return !support::IsAlive(shell); }));
  Call(2, "echo after");
  EXPECT_EQ(ReceiveResult(2).Text("output"), "after\n");
  EXPECT_EQ(interceptor_.ended, 2);
}

TEST_F(ShellCallTest, ReportsProgressWithTheNewOutput) {
  Call(1, "echo one; read line < /dev/null; sleep 0.3; echo two >&2; exec sleep 1000", kNoLimit, kWithProgress);
  const Message first = Receive(), second = Receive();
  EXPECT_EQ(first.Text("method"), "notifications/progress");
  EXPECT_EQ(first.Text("params.progressToken"), "t");
  EXPECT_EQ(first.Text("params.message"), "one\n");
  EXPECT_EQ(first.Number("params.progress"), 4);
  EXPECT_EQ(second.Text("params.message"), "two\n");
  EXPECT_EQ(second.Number("params.progress"), 8);
}

TEST_F(ShellCallTest, ReportsAllProgressBeforeTheResult) {
  // The second line comes too early for a notification of its own.
  Call(1, "echo 1; sleep 0.02; echo 2", "", R"({"progressToken":7})");
  std::string seen;
  Message message = Receive();
  for (; message.Has("method"); message = Receive()) {
    EXPECT_EQ(message.Number("params.progressToken"), 7);
    seen += message.Text("params.message");
  }
  EXPECT_EQ(seen, "1\n2\n");
  EXPECT_EQ(message.Number("id"), 1);
}

TEST_F(ShellCallTest, ReportsNoProgressWithoutAToken) {
  Call(1, "echo one");
  EXPECT_TRUE(Receive().Has("result"));
}

TEST_F(ShellCallTest, ReportsFewLargePiecesToASlowClient) {
  transport_->is_congested = true;
  Call(1, "echo one; echo two; exec sleep 1000", R"(,"timeout_ms":300)", kWithProgress);
  EXPECT_TRUE(support::RunUntil(loop_, [&] { return unread() > 0; }));
  EXPECT_EQ(Receive().Number("id"), 1);  // the result, without any progress
}

TEST_F(ShellCallTest, AsksTheClientForApproval) {
  const Message question = Ask();
  EXPECT_EQ(question.Text("method"), "elicitation/create");
  EXPECT_EQ(
      question.Text("params.message"),
      "Allow agent to run `/usr/bin/git push` in `/w`?\nIt will run outside of the sandbox.\nIt changes the server.");
  EXPECT_EQ(question.Text("params.requestedSchema.properties.reason.type"), "string");
  AnswerQuestion(question.Number("id"), "accept");
  ASSERT_EQ(interceptor_.answers.size(), 1u);
  EXPECT_EQ(interceptor_.answers[0].action, Action::kEscalate);
}

// A command can ask as often as it likes, and its questions would fill the memory of the server.
TEST_F(ShellCallTest, AsksNothingBeforeTheClientHasReadTheRest) {
  transport_->is_congested = true;
  interceptor_.questions = {{.file = "/bin/a", .argv = {}, .cwd = "/"}};
  Call(1, "exec sleep 1000", kNoLimit);
  EXPECT_FALSE(support::RunUntil(loop_, [&] { return unread() > 0; }, std::chrono::milliseconds(200)));
  transport_->Drain();
  EXPECT_TRUE(support::RunUntil(loop_, [&] { return unread() > 0; }));
  EXPECT_EQ(Receive().Text("method"), "elicitation/create");
}

TEST_F(ShellCallTest, DeniesWhatTheUserDeclines) {
  AnswerQuestion(Ask().Number("id"), "decline");
  ExpectDenied("User declined execution");
}

TEST_F(ShellCallTest, DeniesWhatTheUserCancels) {
  AnswerQuestion(Ask().Number("id"), "cancel");
  ExpectDenied("User cancelled execution");
}

TEST_F(ShellCallTest, DeniesOnAnActionThatItDoesNotKnow) {
  AnswerQuestion(Ask().Number("id"), "perhaps");
  ExpectDenied("The client answered the question with the unknown action \"perhaps\"");
}

TEST_F(ShellCallTest, DeniesWhenTheClientFails) {
  const Message question = Ask();
  Send(fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{{"code":-32603,"message":"no window"}}}})",
                   question.Number("id")));
  ExpectDenied("The client failed to ask its user: no window");
}

TEST_F(ShellCallTest, HasSeveralQuestionsOpenAtOnce) {
  const escalate::Question question{.file = "/bin/a", .argv = {}, .cwd = "/"};
  interceptor_.questions = {question, question};
  Call(1, "exec sleep 1000", kNoLimit);
  const Message first = Receive(), second = Receive();
  EXPECT_NE(first.Number("id"), second.Number("id"));
  AnswerQuestion(second.Number("id"), "accept");
  AnswerQuestion(first.Number("id"), "decline");
  ASSERT_EQ(interceptor_.answers.size(), 2u);
  EXPECT_EQ(interceptor_.answers[0].action, Action::kRun);
  EXPECT_EQ(interceptor_.answers[1].action, Action::kDeny);
}

TEST_F(ShellCallTest, WithdrawsAQuestionThatIsMoot) {
  const Message question = Ask();
  Cancel(1);
  const Message withdrawn = Receive();
  EXPECT_EQ(withdrawn.Text("method"), "notifications/cancelled");
  EXPECT_EQ(withdrawn.Number("params.requestId"), question.Number("id"));
  AnswerQuestion(question.Number("id"), "accept");  // too late
  EXPECT_EQ(unread(), 0u);
  EXPECT_TRUE(interceptor_.answers.empty());
}

TEST_F(ShellCallTest, DoesNotCountTheTimeOfAnOpenQuestion) {
  const Message question = Ask(R"(,"timeout_ms":200)");
  EXPECT_FALSE(support::RunUntil(loop_, [&] { return unread() > 0; }, std::chrono::milliseconds(600)));
  AnswerQuestion(question.Number("id"), "accept");
  const Message result = ReceiveResult(1);
  EXPECT_TRUE(result.Flag("timed_out"));
  EXPECT_GE(result.Number("duration.secs") * 1'000'000'000 + result.Number("duration.nanos"), 600'000'000);
}

class WithoutElicitationTest : public ServerFixture {};

TEST_F(WithoutElicitationTest, DeniesWithoutAQuestion) {
  Initialize("{}");
  interceptor_.questions = {{.file = "/bin/a", .argv = {}, .cwd = "/"}};
  Call(1, "true");
  EXPECT_EQ(ReceiveResult(1).Number("exit_code"), 0);
  ASSERT_EQ(interceptor_.answers.size(), 1u);
  EXPECT_EQ(interceptor_.answers[0].action, Action::kDeny);
  EXPECT_THAT(interceptor_.answers[0].reason, HasSubstr("has not declared the capability elicitation"));
}

TEST(ElicitationOfTest, IsSupportedByAClientThatShowsForms) {
  const std::pair<const char*, Elicitation> cases[] = {
      {"{}", Elicitation::kSupported},
      {R"({"form":{}})", Elicitation::kSupported},
      {R"({"form":{},"url":{}})", Elicitation::kSupported},
      {R"({"url":{}})", Elicitation::kUnsupported},
      {"null", Elicitation::kUnsupported},
      {"true", Elicitation::kUnsupported},
  };
  for (const auto& [json, elicitation] : cases) {
    wire::Document document;
    EXPECT_EQ(ElicitationOf(*document.Parse(json)), elicitation) << json;
  }
}

}  // namespace
}  // namespace holdfast::mcp
