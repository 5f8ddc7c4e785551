#include "exec_server/server_fixture.h"

namespace holdfast::exec_server {
namespace {

class LongPollTest : public ServerFixture {
 protected:
  // Starts the process `p`, which runs the script when it gets a line.
  Client& WithReader(std::string_view script) {
    Client& client = ConnectReady();
    EXPECT_EQ(Start(client, "p", fmt::format("read line; {}", script), R"(,"pipeStdin":true)").error_code(), 0);
    return client;
  }

  int Poll(Client& client, uint64_t after_seq = 0, uint64_t wait_ms = 600'000) {
    return client.Ask("process/read",
                      fmt::format(R"({{"processId":"p","afterSeq":{},"waitMs":{}}})", after_seq, wait_ms));
  }

  void Go(Client& client) { Call(client, "process/closeStdin", Named("p")); }

  bool RunUntilAnswered(Client& client, int id) {
    return RunUntil([&] { return client.AnswerTo(id).has_value(); });
  }
};

TEST_F(LongPollTest, IsWokenByOutput) {
  Client& client = WithReader("echo hi; sleep 1000");
  const int poll = Poll(client);
  EXPECT_FALSE(client.AnswerTo(poll));
  Go(client);
  ASSERT_TRUE(RunUntilAnswered(client, poll));
  EXPECT_EQ(client.AnswerTo(poll)->Bytes("result.chunks.0.chunk"), "hi\n");
}

TEST_F(LongPollTest, IsWokenByTheExit) {
  Client& client = WithReader("sleep 1000 & exit 8");
  const int poll = Poll(client);
  Go(client);
  ASSERT_TRUE(RunUntilAnswered(client, poll));
  EXPECT_EQ(client.AnswerTo(poll)->Number("result.exitCode"), 8);
  EXPECT_FALSE(client.AnswerTo(poll)->Flag("result.closed"));
}

TEST_F(LongPollTest, IsNotToldOfACloseThatHasNoNumberYet) {
  Client& client = WithReader("exit 0");
  const int poll = Poll(client), wait = client.Ask("process/wait", Named("p"));
  Go(client);
  ASSERT_TRUE(RunUntilAnswered(client, poll) && RunUntilAnswered(client, wait));
  EXPECT_EQ(client.AnswerTo(poll)->Number("result.nextSeq"), 2);
  EXPECT_FALSE(client.AnswerTo(poll)->Flag("result.closed"));
  EXPECT_FALSE(client.AnswerTo(wait)->Flag("result.closed"));
}

TEST_F(LongPollTest, IsWokenByTheClose) {
  Client& client = WithReader("sleep 0.1 & exit 8");
  Go(client);
  ASSERT_TRUE(RunUntil([&] { return client.Got("process/exited"); }));
  const int poll = Poll(client, 1);
  ASSERT_TRUE(RunUntilAnswered(client, poll));
  EXPECT_TRUE(client.AnswerTo(poll)->Flag("result.closed"));
  EXPECT_EQ(client.AnswerTo(poll)->Number("result.nextSeq"), 3);
}

TEST_F(LongPollTest, IsNotWokenByAnotherProcess) {
  Client& client = WithReader("echo hi; sleep 1000");
  const int poll = Poll(client);
  Start(client, "q", "echo other");
  ASSERT_TRUE(RunUntil([&] { return client.Got("process/closed"); }));
  EXPECT_FALSE(client.AnswerTo(poll));
}

TEST_F(LongPollTest, IsNotWokenByOutputItHasSeen) {
  Client& client = WithReader("echo second; sleep 1000");
  Start(client, "q", "exit 0");
  const int poll = Poll(client, 1);
  Go(client);
  ASSERT_TRUE(RunUntil([&] { return client.Got("process/output"); }));
  support::RunReady(loop_);
  EXPECT_FALSE(client.AnswerTo(poll));
}

TEST_F(LongPollTest, AnswersAtOnceWhenThereIsSomething) {
  Client& client = WithReader("echo hi; sleep 1000");
  Go(client);
  ASSERT_TRUE(RunUntil([&] { return client.Got("process/output"); }));
  EXPECT_TRUE(client.AnswerTo(Poll(client)));
}

TEST_F(LongPollTest, AnswersAtOnceWithoutAWait) {
  Client& client = WithReader("exit 0");
  const int poll = Poll(client, 0, 0);
  ASSERT_TRUE(client.AnswerTo(poll));
  EXPECT_EQ(client.AnswerTo(poll)->Size("result.chunks"), 0u);
  EXPECT_FALSE(client.AnswerTo(poll)->Flag("result.exited"));
}

TEST_F(LongPollTest, EndsWhenTimeIsUp) {
  Client& client = WithReader("exit 0");
  const int poll = Poll(client, 0, 30);
  EXPECT_FALSE(client.AnswerTo(poll));
  ASSERT_TRUE(RunUntilAnswered(client, poll));
  EXPECT_EQ(client.AnswerTo(poll)->Size("result.chunks"), 0u);
}

TEST_F(LongPollTest, TakesAWaitForEver) {
  Client& client = WithReader("exit 0");
  const int poll = Poll(client, 0, UINT64_MAX);
  support::RunReady(loop_);
  EXPECT_FALSE(client.AnswerTo(poll));
  Go(client);
  EXPECT_TRUE(RunUntilAnswered(client, poll));
}

TEST_F(LongPollTest, WaitsForTheExitWithoutATimeout) {
  Client& client = WithReader("exit 6");
  const int wait = client.Ask("process/wait", Named("p"));
  EXPECT_FALSE(client.AnswerTo(wait));
  Go(client);
  ASSERT_TRUE(RunUntilAnswered(client, wait));
  EXPECT_EQ(client.AnswerTo(wait)->Number("result.exitCode"), 6);
  EXPECT_FALSE(client.AnswerTo(wait)->Flag("result.timedOut"));
}

TEST_F(LongPollTest, TellsThatTheWaitTimedOut) {
  Client& client = WithReader("exit 6");
  const Message answer = Call(client, "process/wait", R"({"processId":"p","timeoutMs":20})");
  EXPECT_TRUE(answer.Flag("result.timedOut"));
  EXPECT_FALSE(answer.Flag("result.exited"));
  EXPECT_TRUE(answer.IsNull("result.exitCode"));
}

TEST_F(LongPollTest, IsDroppedAtTheDisconnect) {
  Client& client = WithReader("echo hi; sleep 1000");
  const std::string session = client.AnswerTo(0)->Text("result.sessionId");
  Poll(client);
  client.Ask("process/wait", Named("p"));
  auto process = sessions_->Resume(session);  // fails while the session is attached
  EXPECT_FALSE(process);
  client.transport->Disconnect();
  // Only the session and this test have the process: the requests that waited for it are gone.
  EXPECT_EQ((*sessions_->Resume(session))->processes().Find("p").use_count(), 2);
}

}  // namespace
}  // namespace holdfast::exec_server
