#include "exec_server/processes/process_service.h"

#include <fcntl.h>

#include <filesystem>

#include "exec_server/server_fixture.h"
#include "support/eventually.h"
#include "support/scratch_dir.h"

namespace holdfast::exec_server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ProcessServiceTest : public ServerFixture {
 protected:
  Client& WithProcess(std::string_view script, std::string_view more = "") {
    Client& client = ConnectReady();
    EXPECT_EQ(Start(client, "p", script, more).error_code(), 0);
    return client;
  }

  Message Write(Client& client, std::string_view bytes, std::string_view more = "") {
    return Call(client, "process/write",
                fmt::format(R"({{"processId":"p","chunk":"{}"{}}})", support::Base64(bytes), more));
  }

  static std::string AllOutput(const Client& client) {
    std::string all;
    for (const Message& output : client.Notifications("process/output")) all += output.Bytes("params.chunk");
    return all;
  }

  bool RunUntilClosed(Client& client) {
    return RunUntil([&] { return client.Got("process/closed"); });
  }
};

constexpr char kPipe[] = R"(,"pipeStdin":true)";

TEST_F(ProcessServiceTest, ReadsWithinABudgetAndGoesOnAfterIt) {
  Client& client = WithProcess("echo one; read go; echo two", kPipe);
  ASSERT_TRUE(RunUntil([&] { return client.Got("process/output"); }));
  Write(client, "go\n");
  ASSERT_TRUE(RunUntilClosed(client));
  const Message first = Call(client, "process/read", R"({"processId":"p","maxBytes":1})");
  EXPECT_EQ(first.Size("result.chunks"), 1u);
  EXPECT_EQ(first.Number("result.nextSeq"), 2);
  const Message second = Call(client, "process/read", R"({"processId":"p","afterSeq":1})");
  EXPECT_EQ(second.Bytes("result.chunks.0.chunk"), "two\n");
  EXPECT_EQ(second.Number("result.nextSeq"), 5);
  EXPECT_TRUE(second.IsNull("result.failure"));
}

TEST_F(ProcessServiceTest, RefusesToReadWhatItDoesNotKnow) {
  Client& client = ConnectReady();
  for (const char* method : {"process/read", "process/closeStdin", "process/wait", "process/snapshot"}) {
    EXPECT_EQ(Call(client, method, Named("p")).error_code(), -32600) << method;
  }
  EXPECT_EQ(Call(client, "process/resize", R"({"processId":"p","rows":1,"cols":1})").error_code(), -32600);
}

TEST_F(ProcessServiceTest, KeepsWritesInOrder) {
  Client& client = WithProcess("cat", kPipe);
  for (const char* text : {"a", "b", "", "c"}) EXPECT_EQ(Write(client, text).Text("result.status"), "accepted");
  Call(client, "process/closeStdin", Named("p"));
  ASSERT_TRUE(RunUntilClosed(client));
  EXPECT_EQ(AllOutput(client), "abc");
}

TEST_F(ProcessServiceTest, HearsARepeatedWriteOnce) {
  Client& client = WithProcess("cat", kPipe);
  for (const char* id : {"1", "1", "2"}) {
    EXPECT_EQ(Write(client, id, fmt::format(R"(,"writeId":"{}")", id)).Text("result.status"), "accepted");
  }
  Call(client, "process/closeStdin", Named("p"));
  ASSERT_TRUE(RunUntilClosed(client));
  EXPECT_EQ(AllOutput(client), "12");
}

TEST_F(ProcessServiceTest, SaysWhyAWriteWentNowhere) {
  Client& client = ConnectReady();
  EXPECT_EQ(Write(client, "x").Text("result.status"), "unknownProcess");
  Start(client, "p", "sleep 1000");
  EXPECT_EQ(Write(client, "x").Text("result.status"), "stdinClosed");
}

TEST_F(ProcessServiceTest, TellsThatAPipeWasClosed) {
  Client& client = WithProcess("cat; sleep 1000", kPipe);
  Call(client, "process/closeStdin", Named("p"));
  EXPECT_EQ(Write(client, "x").Text("result.status"), "stdinClosed");
}

TEST_F(ProcessServiceTest, AcceptsWritesAfterTheExit) {
  Client& client = WithProcess("exit 0", kPipe);
  ASSERT_TRUE(RunUntilClosed(client));
  EXPECT_EQ(Write(client, "x").Text("result.status"), "accepted");
}

TEST_F(ProcessServiceTest, RefusesAnInvalidWrite) {
  Client& client = WithProcess("cat", kPipe);
  EXPECT_EQ(Call(client, "process/write", R"({"processId":"p","chunk":"!"})").error_code(), -32602);
  EXPECT_EQ(Write(client, "x", R"(,"writeId":"")").error_code(), -32602);
  EXPECT_EQ(Write(client, "x", fmt::format(R"(,"writeId":"{}")", std::string(1025, 'x'))).error_code(), -32602);
  EXPECT_EQ(Write(client, "x", fmt::format(R"(,"writeId":"{}")", std::string(1024, 'x'))).error_code(), 0);
}

TEST_F(ProcessServiceTest, HoldsBackWritesOfAProcessThatDoesNotRead) {
  Client& client = WithProcess("sleep 1000", kPipe);
  const std::string megabyte = support::Base64(std::string(1u << 20, 'x'));
  std::vector<int> ids;
  for (int i = 0; i < 4; ++i)
    ids.push_back(client.Ask("process/write", fmt::format(R"({{"processId":"p","chunk":"{}"}})", megabyte)));
  support::RunReady(loop_);
  EXPECT_TRUE(client.AnswerTo(ids[0]));
  EXPECT_FALSE(client.AnswerTo(ids[3]));
  EXPECT_TRUE(Call(client, "process/terminate", Named("p")).Flag("result.running"));
  EXPECT_TRUE(RunUntil([&] { return client.AnswerTo(ids[3]).has_value(); }));
}

// After a reconnect the client cannot know whether the writes that were under way have arrived, so it sends them again.
TEST_F(ProcessServiceTest, WritesOnceWhatIsSentAgainAfterAResume) {
  const support::ScratchDir dir;
  const std::string go = dir.path() + "/go";
  Client& first = WithProcess(fmt::format("while [ ! -e {} ]; do sleep 0.01; done; cat | tr -d x", go), kPipe);
  const std::string session = Message(first.sent().at(0)).Text("result.sessionId");
  const std::pair<const char*, std::string> writes[] = {
      {"large", "1" + std::string(3u << 20, 'x') + "2"}, {"held", "3"}, {"also held", "4"}};
  const auto send = [&](Client& client, const auto& write) {
    return client.Ask("process/write", fmt::format(R"({{"processId":"p","chunk":"{}","writeId":"{}"}})",
                                                   support::Base64(write.second), write.first));
  };
  for (const auto& write : writes) EXPECT_FALSE(first.AnswerTo(send(first, write))) << write.first;
  first.transport->Disconnect();

  Client& second = ConnectReady(fmt::format(R"(,"resumeSessionId":"{}")", session));
  std::vector<int> ids;
  for (const auto& write : writes) ids.push_back(send(second, write));
  const int close = second.Ask("process/closeStdin", Named("p"));
  const OwnedFd created(::open(go.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  ASSERT_TRUE(RunUntilClosed(second));
  EXPECT_EQ(AllOutput(second), "1234");
  for (const int id : ids) EXPECT_EQ(second.AnswerTo(id).value().Text("result.status"), "accepted");
  EXPECT_EQ(second.AnswerTo(close).value().error_code(), 0);
}

TEST_F(ProcessServiceTest, QueuesRequestsBehindAStartUnderWay) {
  Client& client = ConnectReady();
  client.Forget();
  client.Ask("process/start", StartParams("p", "cat", kPipe));
  const int write =
      client.Ask("process/write", fmt::format(R"({{"processId":"p","chunk":"{}"}})", support::Base64("hi")));
  const int close = client.Ask("process/closeStdin", Named("p"));
  EXPECT_TRUE(client.sent().empty());
  ASSERT_TRUE(RunUntilClosed(client));
  EXPECT_EQ(client.AnswerTo(write)->Text("result.status"), "accepted");
  EXPECT_EQ(client.AnswerTo(close)->error_code(), 0);
  EXPECT_EQ(AllOutput(client), "hi");
}

TEST_F(ProcessServiceTest, AnswersWhatWaitedForAStartThatFailed) {
  Client& client = ConnectReady();
  client.Ask("process/start", R"({"processId":"p","argv":["/no/such"],"cwd":"/","env":{},"tty":false})");
  const int read = client.Ask("process/read", Named("p"));
  const int write = client.Ask("process/write", R"({"processId":"p","chunk":""})");
  ASSERT_TRUE(RunUntil([&] { return client.AnswerTo(write).has_value(); }));
  EXPECT_EQ(client.AnswerTo(read)->error_code(), -32600);
  EXPECT_EQ(client.AnswerTo(write)->Text("result.status"), "unknownProcess");
}

// On a busy machine a start may take so long that it is cancelled before it fails. The test then tries again.
TEST_F(ProcessServiceTest, TerminatesNothingBehindAStartThatFails) {
  constexpr int64_t kCancelled = -32600;
  Client& client = ConnectReady();
  for (const char* mode : {"", R"(,"mode":"force")", R"(,"mode":{"graceful":{"timeoutMs":60000}})"}) {
    const auto has_failed = [&] {
      const int start =
          client.Ask("process/start", R"({"processId":"p","argv":["/no/such"],"cwd":"/","env":{},"tty":false})");
      const Message terminated = Call(client, "process/terminate", fmt::format(R"({{"processId":"p"{}}})", mode));
      const int64_t code = client.AnswerTo(start)->error_code();
      if (code == kCancelled) return false;
      EXPECT_EQ(code, -32603) << mode;
      EXPECT_FALSE(terminated.Flag("result.running")) << mode;
      return true;
    };
    EXPECT_TRUE(support::Eventually(has_failed)) << mode;
  }
}

TEST_F(ProcessServiceTest, TerminatesBeforeItTellsTheExit) {
  Client& client = WithProcess("echo up; sleep 1000");
  ASSERT_TRUE(RunUntil([&] { return client.Got("process/output"); }));
  client.Forget();
  EXPECT_TRUE(Call(client, "process/terminate", Named("p")).Flag("result.running"));
  EXPECT_THAT(client.sent().at(0), HasSubstr(R"("running":true)"));
  ASSERT_TRUE(RunUntilClosed(client));
  EXPECT_EQ(client.Notifications("process/exited").at(0).Number("params.exitCode"), 137);
}

TEST_F(ProcessServiceTest, TerminatesNothingThatIsUnknownOrOver) {
  Client& client = WithProcess("exit 0");
  ASSERT_TRUE(RunUntilClosed(client));
  EXPECT_FALSE(Call(client, "process/terminate", Named("p")).Flag("result.running"));
  EXPECT_FALSE(Call(client, "process/terminate", Named("q")).Flag("result.running"));
}

TEST_F(ProcessServiceTest, LeavesTheDescendantsOfAFinishedCommandUnlessAskedWithAMode) {
  Client& client = WithProcess("setsid sleep 1000 >/dev/null 2>&1 & echo $!");
  ASSERT_TRUE(RunUntilClosed(client));
  const pid_t pid = std::stoi(AllOutput(client));
  EXPECT_FALSE(Call(client, "process/terminate", Named("p")).Flag("result.running"));
  EXPECT_EQ(::kill(pid, 0), 0);
  EXPECT_FALSE(Call(client, "process/terminate", R"({"processId":"p","mode":"force"})").Flag("result.running"));
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST_F(ProcessServiceTest, TerminatesWithGraceWhenAsked) {
  Client& client = WithProcess("trap 'exit 3' TERM; echo up; while :; do :; done");
  ASSERT_TRUE(RunUntil([&] { return client.Got("process/output"); }));
  Call(client, "process/terminate", R"({"processId":"p","mode":{"graceful":{"timeoutMs":60000}}})");
  ASSERT_TRUE(RunUntilClosed(client));
  EXPECT_EQ(client.Notifications("process/exited").at(0).Number("params.exitCode"), 3);
}

// A process that ignores SIGTERM is killed at the earlier deadline, whichever of the two was set first.
TEST_F(ProcessServiceTest, ObeysTheEarlierOfTwoDeadlines) {
  for (const auto& [first_ms, second_ms] : {std::pair(600'000, 50), {50, 600'000}}) {
    Client& client = WithProcess("trap '' TERM; echo up; while :; do sleep 1000; done");
    ASSERT_TRUE(RunUntil([&] { return client.Got("process/output"); }));
    const auto terminate = [&](int timeout_ms) {
      return client.Ask("process/terminate",
                        fmt::format(R"({{"processId":"p","mode":{{"graceful":{{"timeoutMs":{}}}}}}})", timeout_ms));
    };
    const int first = terminate(first_ms), second = terminate(second_ms);
    ASSERT_TRUE(RunUntilClosed(client)) << first_ms;
    EXPECT_EQ(client.Notifications("process/exited").at(0).Number("params.exitCode"), 137);
    for (const int id : {first, second}) EXPECT_TRUE(client.AnswerTo(id).value().Flag("result.running"));
  }
}

TEST_F(ProcessServiceTest, AsksWhatAFinishedCommandLeftBehindToEnd) {
  const support::ScratchDir dir;
  const std::string ready = dir.path() + "/ready", asked = dir.path() + "/asked";
  Client& client = WithProcess(fmt::format(
      "setsid sh -c 'trap \": >{}; exit\" TERM; : >{}; while :; do sleep 0.01; done' >/dev/null 2>&1 & exit 0", asked,
      ready));
  ASSERT_TRUE(RunUntil([&] { return client.Got("process/closed") && std::filesystem::exists(ready); }));
  const Message answer =
      Call(client, "process/terminate", R"({"processId":"p","mode":{"graceful":{"timeoutMs":60000}}})");
  EXPECT_FALSE(answer.Flag("result.running"));
  EXPECT_TRUE(std::filesystem::exists(asked));
}

TEST_F(ProcessServiceTest, SignalsByName) {
  Client& client = WithProcess("trap 'exit 4' USR1; trap 'exit 5' INT; echo up; while :; do :; done");
  ASSERT_TRUE(RunUntil([&] { return client.Got("process/output"); }));
  EXPECT_EQ(Call(client, "process/signal", R"({"processId":"p","signal":"SIGNOPE"})").error_code(), -32602);
  EXPECT_EQ(Call(client, "process/signal", R"({"processId":"p","signal":"SIGUSR1"})").text().find("error"),
            std::string::npos);
  ASSERT_TRUE(RunUntilClosed(client));
  EXPECT_EQ(client.Notifications("process/exited").at(0).Number("params.exitCode"), 4);
  EXPECT_EQ(Call(client, "process/signal", R"({"processId":"p","signal":"interrupt"})").error_code(), 0);
  EXPECT_EQ(Call(client, "process/signal", R"({"processId":"q","signal":"interrupt"})").error_code(), 0);
}

TEST_F(ProcessServiceTest, ResizesATerminalOnly) {
  Client& client = WithProcess("trap 'stty size; exit' WINCH; echo up; while :; do sleep 0.01; done",
                               R"(,"io":{"pty":{"rows":10,"cols":20}})");
  ASSERT_TRUE(RunUntil([&] { return client.Got("process/output"); }));
  EXPECT_EQ(Call(client, "process/resize", R"({"processId":"p","rows":33,"cols":44})").error_code(), 0);
  ASSERT_TRUE(RunUntilClosed(client));
  EXPECT_THAT(AllOutput(client), HasSubstr("33 44"));
  EXPECT_EQ(client.Notifications("process/output").at(0).Text("params.stream"), "pty");
  Start(client, "q", "sleep 1000");
  EXPECT_EQ(Call(client, "process/resize", R"({"processId":"q","rows":33,"cols":44})").error_code(), -32600);
}

TEST_F(ProcessServiceTest, SnapshotsTheBeginningAndTheEnd) {
  config_.snapshot_bytes_per_stream = 4;
  Client& client = WithProcess("printf 0123456789; printf e >&2; exit 2");
  ASSERT_TRUE(RunUntilClosed(client));
  const Message snapshot = Call(client, "process/snapshot", Named("p"));
  EXPECT_EQ(snapshot.Bytes("result.stdout"), "0189");
  EXPECT_EQ(snapshot.Bytes("result.stderr"), "e");
  EXPECT_EQ(snapshot.Bytes("result.terminal"), "");
  EXPECT_TRUE(snapshot.Flag("result.truncated"));
  EXPECT_EQ(snapshot.Number("result.omittedBytes"), 6);
  EXPECT_FALSE(snapshot.Flag("result.running"));
  EXPECT_EQ(snapshot.Number("result.exitCode"), 2);
}

TEST_F(ProcessServiceTest, ListsWhatRunsAndWhatIsOver) {
  Client& client = WithProcess("printf 12345; exit 1");
  ASSERT_TRUE(RunUntilClosed(client));
  Start(client, "q", "sleep 1000");
  const Message list = Call(client, "process/list", "null");
  EXPECT_EQ(list.Size("result.processes"), 2u);
  EXPECT_EQ(list.Text("result.processes.0.state"), "closed");
  EXPECT_EQ(list.Number("result.processes.0.exitCode"), 1);
  EXPECT_EQ(list.Number("result.processes.0.outputBytes"), 5);
  EXPECT_EQ(list.Text("result.processes.1.state"), "running");
  EXPECT_EQ(list.Text("result.processes.1.argv.2"), "sleep 1000");
  EXPECT_TRUE(list.IsNull("result.processes.1.exitedAtMs"));
}

TEST_F(ProcessServiceTest, ListsTheBeginningOfALongCommand) {
  Client& client = ConnectReady();
  Start(client, "p", "sleep 1000 # " + std::string(100'000, 'x'));
  std::string words = R"("/bin/sleep","1000")";
  for (int i = 0; i < 2000; ++i) words += R"(,"1234567")";
  Call(client, "process/start",
       fmt::format(R"({{"processId":"q","argv":[{}],"cwd":"/","env":{{}},"tty":false}})", words));
  const Message list = Call(client, "process/list", "{}");
  EXPECT_THAT(list.Text("result.processes.0.argv.2"), StartsWith("sleep 1000 # xxx"));
  EXPECT_EQ(list.Text("result.processes.0.argv.0"), "/bin/sh");
  EXPECT_LE(list.Text("result.processes.0.argv.2").size(), 4096u);
  EXPECT_GE(list.Text("result.processes.0.argv.2").size(), 4000u);
  EXPECT_THAT(list.Size("result.processes.1.argv"), testing::AllOf(testing::Ge(400u), testing::Le(512u)));
}

TEST_F(ProcessServiceTest, ReportsAMissingProgramAsInternal) {
  Client& client = ConnectReady();
  const Message answer =
      Call(client, "process/start", R"({"processId":"p","argv":["no-such"],"cwd":"/","env":{},"tty":true})");
  EXPECT_EQ(answer.error_code(), -32603);
  EXPECT_THAT(answer.Text("error.message"), StartsWith("execute no-such: No such file"));
}

}  // namespace
}  // namespace holdfast::exec_server
