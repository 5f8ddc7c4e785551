#include "client/process.h"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/client_fixture.h"
#include "support/message.h"

namespace holdfast::client {
namespace {

using namespace std::chrono_literals;
using support::Message;
using testing::ElementsAre;

class ProcessTest : public ClientTest {
 protected:
  // The server answers process/read with these chunks, given as JSON, and this state.
  void AnswerRead(std::string chunks, int next_seq, std::string state = R"("exited":false,"closed":false)") {
    server_.Handle("process/read", [this, chunks, next_seq, state](const Message& request) {
      const bool first =
          request.Number("params.afterSeq") == server_.Got("process/read").at(0).Number("params.afterSeq");
      return fmt::format(R"("result":{{"chunks":[{}],"nextSeq":{},{},"exitCode":3,"failure":null}})",
                         first ? chunks : "", next_seq, state);
    });
  }
  static std::string Chunk(int seq, std::string_view bytes) {
    return fmt::format(R"({{"seq":{},"stream":"stdout","chunk":"{}"}})", seq, support::Base64(bytes));
  }
  void CutAndRecover() {
    const size_t before = server_.Got("initialized").size();
    server_.Cut();
    ASSERT_TRUE(RunUntil([&] { return server_.Got("initialized").size() > before; }));
    RunReady();
  }
};

TEST_F(ProcessTest, StartsACommand) {
  auto client = Connect();
  const auto process = Start(client, {.cwd = "/a b",
                                      .env = {{"A", "1"}},
                                      .terminal = TerminalSize{.rows = 50, .cols = 132},
                                      .sandbox = R"({"type":"read-only"})"});
  const Message request = server_.Got("process/start").at(0);
  EXPECT_EQ(request.Text("params.processId"), "p");
  EXPECT_EQ(request.Text("params.argv.0"), "/bin/true");
  EXPECT_EQ(request.Text("params.cwd"), "file:///a%20b");
  EXPECT_EQ(request.Text("params.env.A"), "1");
  EXPECT_TRUE(request.Flag("params.tty"));
  EXPECT_EQ(request.Number("params.io.pty.cols"), 132);
  EXPECT_EQ(request.Text("params.sandbox.type"), "read-only");
}

TEST_F(ProcessTest, ChoosesAnIdForEachProcess) {
  auto client = Connect();
  server_.Answer("process/start", R"({"processId":"","sandboxType":"none"})");
  const auto one = Run(client.Start({.argv = {"a"}}));
  const auto two = Run(client.Start({.argv = {"a"}}));
  ASSERT_TRUE(one && two);
  EXPECT_NE((*one)->id(), (*two)->id());
}

TEST_F(ProcessTest, AsksForALimitOfTheTimeWhereTheServerHasOne) {
  server_.Answer("initialize", R"({"sessionId":"S","environmentInfo":{"shell":{"name":"sh","path":"/bin/sh"},)"
                               R"("capabilities":{"limits":["moonPhases","wallMs"]}}})");
  auto client = Connect();
  const auto process = Start(client, {.limits = {.wall_ms = 5000}});
  EXPECT_EQ(server_.Got("process/start").at(0).Number("params.limits.wallMs"), 5000);
  const auto other = Start(client, {.process_id = "q"});
  EXPECT_FALSE(server_.Got("process/start").at(1).Has("params.limits"));
}

TEST_F(ProcessTest, StartsNothingWhereALimitWouldBeIgnored) {
  auto client = Connect();
  const auto process = Run(client.Start({.argv = {"/bin/true"}, .limits = {.wall_ms = 5000}}));
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().message, "this server cannot limit the time of a command");
  EXPECT_TRUE(server_.Got("process/start").empty());
}

TEST_F(ProcessTest, TellsWhyTheServerHasEndedTheCommand) {
  auto client = Connect();
  const auto cause_in = [&](const std::string& id, const std::string& end) {
    const auto process = Start(client, {.process_id = id});
    server_.Send(fmt::format(R"({{"method":"process/exited","params":{{"processId":"{}","seq":1,"exitCode":143{}}}}})",
                             id, end));
    const auto exited = Run(process->Wait());
    return exited ? exited->end : std::nullopt;
  };
  EXPECT_EQ(cause_in("a", R"(,"end":{"cause":"wall","certainty":"certain"})"), wire::EndCause::kWall);
  EXPECT_EQ(cause_in("b", R"(,"end":{"cause":"moonshine"})"), std::nullopt);
  EXPECT_EQ(cause_in("c", ""), std::nullopt);
}

TEST_F(ProcessTest, TellsTheCauseOfAnEndThatItHasMissed) {
  auto client = Connect();
  const auto process = Start(client);
  AnswerRead("", 3, R"("exited":true,"closed":true,"end":{"cause":"server-stopped"})");
  CutAndRecover();
  const auto exited = Run(process->Wait());
  ASSERT_TRUE(exited);
  EXPECT_EQ(exited->end, wire::EndCause::kServerStopped);
}

TEST_F(ProcessTest, ReportsACommandThatCannotStart) {
  auto client = Connect();
  server_.Refuse("process/start", -32603, "execve /x: No such file or directory");
  const auto process = Run(client.Start({.argv = {"/x"}, .process_id = "p"}));
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().message, "execve /x: No such file or directory");
  EXPECT_FALSE(client.session().streams().Follows("p"));
}

TEST_F(ProcessTest, RefusesASandboxThatIsNone) {
  auto client = Connect();
  const auto process = Run(client.Start({.argv = {"/x"}, .process_id = "p", .sandbox = "null"}));
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().message, "sandbox: expected an object, got null");
  EXPECT_TRUE(server_.Got("process/start").empty());
}

TEST_F(ProcessTest, DeliversOutputThatComesBeforeTheAnswer) {
  auto client = Connect();
  server_.LeaveOpen("process/start");
  const auto start = Begin(client.Start({.argv = {"a"}, .process_id = "p"}));
  server_.SendOutput("p", 1, "early");
  server_.Send(R"({"id":2,"result":{"processId":"p"}})");
  ASSERT_TRUE(RunUntil([&] { return start->has_value(); }));
  EXPECT_EQ(Text(Run((**start).value()->NextEvent())), "early");
}

TEST_F(ProcessTest, DeliversEventsInOrder) {
  auto client = Connect();
  const auto process = Start(client);
  server_.SendOutput("p", 2, "b");
  server_.SendOutput("other", 1, "x");
  server_.SendOutput("p", 1, "a");
  server_.SendClosed("p", 4);
  server_.SendExited("p", 3, 5);
  EXPECT_THAT(TakeAll(*process), ElementsAre("a", "b", "exit 5", "closed"));
}

TEST_F(ProcessTest, ReadsOutputInWhateverFormAServerWritesIt) {
  auto client = Connect();
  const auto process = Start(client);
  server_.Send(R"({ "params":{"stream":"stderr","chunk":"YQ==","seq":1,"processId":"p"},"method":"process/output"})");
  EXPECT_EQ(Run(process->NextEvent()), ProcessEvent(Output{.seq = 1, .stream = wire::Stream::kStderr, .bytes = "a"}));
}

TEST_F(ProcessTest, GoesOnAfterAReconnect) {
  auto client = Connect();
  const auto process = Start(client);
  server_.SendOutput("p", 1, "a");
  AnswerRead(Chunk(2, "b") + "," + Chunk(3, "c"), 4);
  CutAndRecover();
  server_.SendOutput("p", 3, "c");
  server_.SendOutput("p", 4, "d");
  server_.SendExited("p", 5, 0);
  server_.SendClosed("p", 6);
  EXPECT_THAT(TakeAll(*process), ElementsAre("a", "b", "c", "d", "exit 0", "closed"));
  EXPECT_EQ(server_.Got("process/read").at(0).Number("params.afterSeq"), 1);
  EXPECT_TRUE(server_.Got("process/read").at(0).json().Find("params").Find("maxBytes").is_null());
}

TEST_F(ProcessTest, ReportsOutputThatTheServerHasDropped) {
  auto client = Connect();
  const auto process = Start(client);
  server_.SendOutput("p", 1, "a");
  AnswerRead(Chunk(4, "d"), 5);
  CutAndRecover();
  EXPECT_EQ(Text(Run(process->NextEvent())), "a");
  EXPECT_EQ(Text(Run(process->NextEvent())), "lost 2-3");
  EXPECT_EQ(Text(Run(process->NextEvent())), "d");
}

TEST_F(ProcessTest, LearnsFromTheServerThatItHasEndedMeanwhile) {
  auto client = Connect();
  const auto process = Start(client);
  AnswerRead(Chunk(1, "a"), 4, R"("exited":true,"closed":true)");
  CutAndRecover();
  EXPECT_THAT(TakeAll(*process), ElementsAre("a", "exit 3", "closed"));
}

TEST_F(ProcessTest, ReadsAServerThatTellsTheLastNumberOnlyWithoutChunks) {
  auto client = Connect();
  const auto process = Start(client);
  server_.Handle("process/read", [](const Message& request) {
    const bool first = request.Number("params.afterSeq") == 0;
    return fmt::format(
        R"("result":{{"chunks":[{}],"nextSeq":{},"exited":true,"exitCode":3,"closed":true,"failure":null}})",
        first ? Chunk(1, "a") : "", first ? 2 : 4);
  });
  CutAndRecover();
  EXPECT_THAT(TakeAll(*process), ElementsAre("a", "exit 3", "closed"));
}

TEST_F(ProcessTest, FailsWhenTheServerNoLongerKnowsIt) {
  auto client = Connect();
  const auto process = Start(client);
  server_.Refuse("process/read", -32600, "unknown process id p");
  CutAndRecover();
  EXPECT_THAT(TakeAll(*process), ElementsAre("failed: unknown process id p"));
}

TEST_F(ProcessTest, IsNotReadAgainWhenItHasEnded) {
  auto client = Connect();
  const auto process = Start(client);
  server_.SendExited("p", 1, 0);
  server_.SendClosed("p", 2);
  CutAndRecover();
  EXPECT_TRUE(server_.Got("process/read").empty());
}

TEST_F(ProcessTest, DoesNotStartACommandTwice) {
  auto client = Connect();
  const auto start = Begin(client.Start({.argv = {"a"}, .process_id = "p"}));
  AnswerRead(Chunk(1, "a"), 2);
  CutAndRecover();
  ASSERT_TRUE(RunUntil([&] { return start->has_value(); }));
  ASSERT_TRUE(start->value());
  EXPECT_EQ(Text(Run((**start).value()->NextEvent())), "a");
  EXPECT_EQ(server_.Got("process/start").size(), 1U);
}

TEST_F(ProcessTest, StartsACommandAgainThatHasNotArrived) {
  auto client = Connect();
  const auto start = Begin(client.Start({.argv = {"a"}, .process_id = "p"}));
  server_.Refuse("process/read", -32600, "unknown process id p");
  server_.Answer("process/start", R"({"processId":"p"})");
  CutAndRecover();
  ASSERT_TRUE(RunUntil([&] { return start->has_value(); }));
  EXPECT_TRUE(start->value());
  EXPECT_EQ(server_.Got("process/start").size(), 2U);
}

TEST_F(ProcessTest, KillsACommandWhoseStartTakesTooLong) {
  auto client = Connect();
  const auto start = Run(client.Start({.argv = {"a"}, .process_id = "p", .call = {.timeout = 20ms}}));
  ASSERT_FALSE(start);
  EXPECT_EQ(start.error().kind, ErrorKind::kTimeout);
  ASSERT_TRUE(RunUntil([&] { return !server_.Got("process/terminate").empty(); }));
  EXPECT_EQ(server_.Got("process/terminate").at(0).Text("params.processId"), "p");
}

TEST_F(ProcessTest, KillsACommandWhoseStartLostItsConnectionForTooLong) {
  auto client = Connect();
  const auto start = Begin(client.Start({.argv = {"a"}, .process_id = "p", .call = {.timeout = 20ms}}));
  server_.SetReachable(false);
  server_.Cut();
  ASSERT_TRUE(RunUntil([&] { return start->has_value(); }));
  EXPECT_EQ((*start)->error().kind, ErrorKind::kTimeout);
  server_.SetReachable(true);
  ASSERT_TRUE(RunUntil([&] { return !server_.Got("process/terminate").empty(); }));
  EXPECT_EQ(server_.Got("process/terminate").at(0).Text("params.processId"), "p");
}

TEST_F(ProcessTest, KillsACommandWhoseStartIsCancelled) {
  auto client = Connect();
  const auto start = Begin(client.Start({.argv = {"a"}, .process_id = "p"}));
  scope_.emplace();
  ASSERT_TRUE(RunUntil([&] { return !server_.Got("process/terminate").empty(); }));
}

TEST_F(ProcessTest, DoesNotKillTheCommandThatHasTheIdOfARefusedStart) {
  auto client = Connect();
  server_.Refuse("process/start", -32600, "process id p is in use");
  EXPECT_FALSE(Run(client.Start({.argv = {"a"}, .process_id = "p"})));
  RunReady();
  EXPECT_TRUE(server_.Got("process/terminate").empty());
}

TEST_F(ProcessTest, AttachesToAProcessThatExists) {
  auto client = Connect();
  AnswerRead(Chunk(1, "a"), 2);
  const auto process = Run(client.Attach("p"));
  ASSERT_TRUE(process);
  server_.SendOutput("p", 2, "b");
  EXPECT_EQ(Text(Run((*process)->NextEvent())), "a");
  EXPECT_EQ(Text(Run((*process)->NextEvent())), "b");
}

TEST_F(ProcessTest, DoesNotAttachToAProcessThatDoesNotExist) {
  auto client = Connect();
  server_.Refuse("process/read", -32600, "unknown process id p");
  EXPECT_EQ(Run(client.Attach("p")).error().message, "unknown process id p");
  EXPECT_FALSE(client.session().streams().Follows("p"));
}

TEST_F(ProcessTest, SendsUnansweredWritesAgainInOrderUnderTheSameIds) {
  auto client = Connect();
  const auto process = Start(client, {.input = Stdin::kOpen});
  const auto one = Begin(process->Write("1"));
  const auto two = Begin(process->Write("2"));
  AnswerRead("", 1);
  server_.Cut();
  server_.Answer("process/write", R"({"status":"accepted"})");
  const auto three = Begin(process->Write("3"));
  ASSERT_TRUE(RunUntil([&] { return three->has_value(); }));
  EXPECT_TRUE(one->value() && two->value() && three->value());
  std::vector<std::string> bytes;
  const auto writes = server_.Got("process/write");
  for (const Message& write : writes) bytes.push_back(write.Bytes("params.chunk"));
  EXPECT_THAT(bytes, ElementsAre("1", "2", "1", "2", "3"));
  EXPECT_EQ(writes.at(0).Text("params.writeId"), writes.at(2).Text("params.writeId"));
  EXPECT_EQ(writes.at(1).Text("params.writeId"), writes.at(3).Text("params.writeId"));
  EXPECT_NE(writes.at(0).Text("params.writeId"), writes.at(1).Text("params.writeId"));
}

TEST_F(ProcessTest, DoesNotRepeatAWriteThatAnOldServerWouldWriteTwice) {
  server_.Answer("initialize", R"({"sessionId":"S"})");
  server_.Refuse("environment/info", -32601, "no such method");
  auto client = Connect();
  const auto process = Start(client, {.input = Stdin::kOpen});
  const auto write = Begin(process->Write("1"));
  AnswerRead("", 1);
  CutAndRecover();
  ASSERT_TRUE(write->has_value());
  EXPECT_EQ((*write)->error().kind, ErrorKind::kDisconnected);
  EXPECT_EQ(server_.Got("process/write").size(), 1U);
  EXPECT_FALSE(server_.Got("process/write").at(0).Has("params.writeId"));
}

TEST_F(ProcessTest, ReportsInputThatIsNotAccepted) {
  auto client = Connect();
  const auto process = Start(client);
  server_.Answer("process/write", R"({"status":"stdinClosed"})");
  EXPECT_EQ(Run(process->Write("x")).error().message, "the standard input of process p is closed");
  server_.Answer("process/write", R"({"status":"unknownProcess"})");
  EXPECT_EQ(Run(process->Write("x")).error().kind, ErrorKind::kNotFound);
}

TEST_F(ProcessTest, ClosesItsInputBehindEveryWrite) {
  auto client = Connect();
  const auto process = Start(client, {.input = Stdin::kOpen});
  const auto write = Begin(process->Write("x"));
  const auto close = Begin(process->CloseStdin());
  EXPECT_TRUE(server_.Got("process/closeStdin").empty());
  server_.Answer("process/closeStdin", "{}");
  server_.Send(R"({"id":3,"result":{"status":"accepted"}})");
  ASSERT_TRUE(RunUntil([&] { return close->has_value(); }));
  EXPECT_TRUE(close->value());
}

TEST_F(ProcessTest, PassesOnWhatItIsAskedFor) {
  auto client = Connect();
  const auto process = Start(client);
  server_.Answer("process/resize", "{}");
  server_.Answer("process/signal", "{}");
  server_.Answer("process/terminate", R"({"running":true})");
  EXPECT_TRUE(Run(process->Resize({.rows = 3, .cols = 4})));
  EXPECT_TRUE(Run(process->Signal("SIGUSR1")));
  EXPECT_EQ(Run(process->Terminate()), true);
  EXPECT_EQ(Run(process->Terminate(250ms)), true);
  EXPECT_EQ(server_.Got("process/resize").at(0).Number("params.rows"), 3);
  EXPECT_EQ(server_.Got("process/signal").at(0).Text("params.signal"), "SIGUSR1");
  EXPECT_FALSE(server_.Got("process/terminate").at(0).Has("params.mode"));
  EXPECT_EQ(server_.Got("process/terminate").at(1).Number("params.mode.graceful.timeoutMs"), 250);
}

TEST_F(ProcessTest, WaitsForTheExit) {
  auto client = Connect();
  const auto process = Start(client);
  EXPECT_EQ(Run(process->Wait(10ms)).error().kind, ErrorKind::kTimeout);
  server_.SendExited("p", 1, 4);
  EXPECT_EQ(Run(process->Wait())->exit_code, 4);
}

TEST_F(ProcessTest, Communicates) {
  auto client = Connect();
  const auto process = Start(client, {.input = Stdin::kOpen});
  server_.Answer("process/write", R"({"status":"accepted"})");
  server_.Answer("process/closeStdin", "{}");
  const auto communicating = Begin(process->Communicate("in"));
  server_.SendOutput("p", 1, "ou");
  server_.SendOutput("p", 2, "t");
  server_.SendExited("p", 3, 1);
  server_.SendClosed("p", 4);
  ASSERT_TRUE(RunUntil([&] { return communicating->has_value(); }));
  ASSERT_TRUE(communicating->value());
  EXPECT_EQ((*communicating)->value().output.out, "out");
  EXPECT_EQ((*communicating)->value().exit.exit_code, 1);
  EXPECT_EQ(server_.Got("process/write").at(0).Bytes("params.chunk"), "in");
  EXPECT_EQ(server_.Got("process/closeStdin").size(), 1U);
}

TEST_F(ProcessTest, CommunicatesNoLongerThanItMay) {
  auto client = Connect();
  const auto process = Start(client);
  EXPECT_EQ(Run(process->Communicate("", 10ms)).error().kind, ErrorKind::kTimeout);
}

TEST_F(ProcessTest, SaysThatItHasNoInputToWriteTo) {
  auto client = Connect();
  const auto process = Start(client);
  EXPECT_EQ(Run(process->Communicate("x")).error().message, "the process p was started without standard input");
}

TEST_F(ProcessTest, SaysThatTheServerCannotCloseItsInput) {
  auto client = Connect();
  const auto process = Start(client, {.input = Stdin::kOpen});
  server_.Refuse("process/closeStdin", -32601, "no such method");
  const auto communicating = Begin(process->Communicate(""));
  ASSERT_TRUE(RunUntil([&] { return communicating->has_value(); }));
  EXPECT_EQ((*communicating)->error().kind, ErrorKind::kUnknownMethod);
}

TEST_F(ProcessTest, SaysThatItsInputWasNotWritten) {
  auto client = Connect();
  const auto process = Start(client, {.input = Stdin::kOpen});
  server_.Refuse("process/write", -32603, "out of memory");
  const auto communicating = Begin(process->Communicate("in"));
  ASSERT_TRUE(RunUntil([&] { return communicating->has_value(); }));
  EXPECT_EQ((*communicating)->error().message, "out of memory");
}

TEST_F(ProcessTest, CommunicatesWithACommandThatDoesNotReadItsInput) {
  auto client = Connect();
  const auto process = Start(client, {.input = Stdin::kOpen});
  server_.Answer("process/write", R"({"status":"stdinClosed"})");
  const auto communicating = Begin(process->Communicate("in"));
  server_.SendExited("p", 1, 0);
  server_.SendClosed("p", 2);
  ASSERT_TRUE(RunUntil([&] { return communicating->has_value(); }));
  EXPECT_TRUE(communicating->value()) << (*communicating)->error().message;
}

TEST_F(ProcessTest, FeedsInputForAsLongAsItCommunicates) {
  auto client = Connect({.call_timeout = 20ms});
  const auto process = Start(client, {.input = Stdin::kOpen});
  const auto communicating = Begin(process->Communicate("in", 1h));
  EXPECT_FALSE(Run(process->Wait(40ms)));  // the server has no room for the input for longer than a call may take
  server_.Answer("process/closeStdin", "{}");
  server_.Send(R"({"id":3,"result":{"status":"accepted"}})");
  ASSERT_TRUE(RunUntil([&] { return !server_.Got("process/closeStdin").empty(); }));
  server_.SendExited("p", 1, 0);
  server_.SendClosed("p", 2);
  ASSERT_TRUE(RunUntil([&] { return communicating->has_value(); }));
  EXPECT_TRUE(communicating->value()) << (*communicating)->error().message;
}

TEST_F(ProcessTest, RunsForAWindowAndGoesOn) {
  auto client = Connect();
  const auto process = Start(client);
  server_.SendOutput("p", 1, "a");
  const auto first = Run(process->RunFor(10ms));
  EXPECT_EQ(first->output.out, "a");
  EXPECT_FALSE(first->exit);
  server_.SendOutput("p", 2, "b");
  server_.SendExited("p", 3, 0);
  EXPECT_TRUE(Run(process->RunFor(10ms))->exit);
  server_.SendClosed("p", 4);
  const auto last = Run(process->RunFor(1h));
  EXPECT_TRUE(last->closed && last->exit);
}

TEST_F(ProcessTest, StopsReadingWhileNobodyTakesItsOutput) {
  auto client = Connect();
  const auto process = Start(client, {.backlog = {.max_bytes = 2}});
  server_.SendOutput("p", 1, "ab");
  EXPECT_EQ(server_.reading(), rpc::Reading::kOff);
  (void)Run(process->NextEvent());
  EXPECT_EQ(server_.reading(), rpc::Reading::kOn);
}

TEST_F(ProcessTest, AProcessThatIsForgottenDoesNotHoldUpTheOthers) {
  auto client = Connect();
  auto process = Start(client, {.backlog = {.max_bytes = 2}});
  server_.SendOutput("p", 1, "ab");
  process.reset();
  EXPECT_EQ(server_.reading(), rpc::Reading::kOn);
}

TEST_F(ProcessTest, ReadsLaterWhatItHadNoRoomFor) {
  auto client = Connect();
  const auto process = Start(client, {.backlog = {.max_bytes = 2, .when_full = WhenFull::kReadLater}});
  server_.SendOutput("p", 1, "ab");
  server_.SendOutput("p", 2, "cd");
  server_.SendOutput("p", 3, "ef");
  EXPECT_EQ(server_.reading(), rpc::Reading::kOn);
  AnswerRead(Chunk(3, "ef"), 4);
  EXPECT_EQ(Text(Run(process->NextEvent())), "ab");
  EXPECT_EQ(Text(Run(process->NextEvent())), "lost 2-2");
  EXPECT_EQ(Text(Run(process->NextEvent())), "ef");
}

}  // namespace
}  // namespace holdfast::client
