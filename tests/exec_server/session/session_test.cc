#include "exec_server/session/session.h"

#include <sys/resource.h>

#include "exec_server/server_fixture.h"

namespace holdfast::exec_server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class SessionTest : public ServerFixture {
 protected:
  // Returns the methods of all notifications in order; consecutive outputs count as one.
  static std::vector<std::string> Methods(const Client& client) {
    std::vector<std::string> methods;
    for (const std::string& text : client.sent()) {
      const Message message(text);
      auto method = message.json().Find("method").string();
      if (method && (methods.empty() || methods.back() != *method)) methods.emplace_back(*method);
    }
    return methods;
  }

  bool RunUntilClosed(Client& client) {
    return RunUntil([&] { return client.Got("process/closed"); });
  }
};

TEST_F(SessionTest, AnswersTheStartBeforeAnyNotification) {
  Client& client = ConnectReady();
  client.Forget();
  const int id = client.Ask("process/start", StartParams("p", "echo hi"));
  ASSERT_TRUE(RunUntilClosed(client));
  EXPECT_EQ(client.sent().at(0), fmt::format(R"({{"id":{},"result":{{"processId":"p","sandboxType":"none"}}}})", id));
  EXPECT_THAT(Methods(client), ElementsAre("process/output", "process/exited", "process/closed"));
}

TEST_F(SessionTest, NumbersNotificationsWithoutAGap) {
  Client& client = ConnectReady();
  Start(client, "p", "echo a; echo b >&2");
  ASSERT_TRUE(RunUntilClosed(client));
  int64_t seq = 0;
  for (const std::string& text : client.sent()) {
    const Message message(text);
    if (message.Has("method")) EXPECT_EQ(message.Number("params.seq"), ++seq);
  }
  EXPECT_EQ(seq, 4);
}

TEST_F(SessionTest, TellsTheLifecycleToThoseWhoAsk) {
  Client& client = ConnectReady(R"(,"capabilities":{"lifecycle":true})");
  Start(client, "p", "exit 0");
  ASSERT_TRUE(RunUntilClosed(client));
  EXPECT_THAT(Methods(client), ElementsAre("process/started", "process/exited", "process/closed"));
  EXPECT_GT(client.Notifications("process/started").at(0).Number("params.pid"), 1);
  Call(client, "process/start", R"({"processId":"q","argv":["/no/such"],"cwd":"/","env":{},"tty":false})");
  EXPECT_THAT(client.Notifications("process/failed").at(0).Text("params.message"), HasSubstr("execute /no/such"));
}

// If a pipe cannot be made, the start fails before there is a keeper.
TEST_F(SessionTest, TellsTheLifecycleOfAStartThatHasNoDescriptors) {
  Client& client = ConnectReady(R"(,"capabilities":{"lifecycle":true})");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const int start = client.Ask("process/start", StartParams("p", "exit 0"));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(client.AnswerTo(start));
  EXPECT_EQ(client.AnswerTo(start)->error_code(), -32603);
  ASSERT_EQ(client.Notifications("process/failed").size(), 1u);
  EXPECT_EQ(client.Notifications("process/failed").at(0).Text("params.message"),
            client.AnswerTo(start)->Text("error.message"));
  EXPECT_EQ(Start(client, "p", "exit 0").error_code(), 0);
  ASSERT_TRUE(RunUntilClosed(client));
}

TEST_F(SessionTest, KeepsTheLifecycleFromOthers) {
  Client& client = ConnectReady();
  Start(client, "p", "exit 0");
  ASSERT_TRUE(RunUntilClosed(client));
  EXPECT_THAT(Methods(client), ElementsAre("process/exited", "process/closed"));
}

TEST_F(SessionTest, RefusesAnIdThatIsTaken) {
  Client& client = ConnectReady();
  Start(client, "p", "exit 0");
  EXPECT_EQ(Start(client, "p", "exit 0").error_code(), -32600);
  ASSERT_TRUE(RunUntilClosed(client));
  EXPECT_EQ(Start(client, "p", "exit 0").error_code(), -32600);
}

TEST_F(SessionTest, FreesTheIdOfAFailedStart) {
  Client& client = ConnectReady();
  EXPECT_EQ(Call(client, "process/start", R"({"processId":"p","argv":["/no/such"],"cwd":"/","env":{},"tty":false})")
                .error_code(),
            -32603);
  EXPECT_EQ(Start(client, "p", "exit 0").error_code(), 0);
}

TEST_F(SessionTest, FreesTheIdWhenTheRetentionEnds) {
  config_.exited_retention_ms = 30;
  Boot();
  Client& client = ConnectReady();
  Start(client, "p", "exit 0");
  ASSERT_TRUE(RunUntilClosed(client));
  ASSERT_TRUE(RunUntil([&] { return Call(client, "process/read", Named("p")).error_code() == -32600; }));
  EXPECT_EQ(Start(client, "p", "exit 0").error_code(), 0);
}

TEST_F(SessionTest, CanReadAFinishedProcessWithinTheRetention) {
  Client& client = ConnectReady();
  Start(client, "p", "echo kept; exit 9");
  ASSERT_TRUE(RunUntilClosed(client));
  const Message read = Call(client, "process/read", Named("p"));
  EXPECT_EQ(read.Bytes("result.chunks.0.chunk"), "kept\n");
  EXPECT_EQ(read.Number("result.exitCode"), 9);
  EXPECT_TRUE(read.Flag("result.closed"));
}

TEST_F(SessionTest, LimitsItsRunningProcesses) {
  config_.max_processes_per_session = 2;
  Client& client = ConnectReady();
  Start(client, "a", "sleep 1000");
  Start(client, "b", "sleep 1000");
  EXPECT_EQ(Start(client, "c", "exit 0").error_code(), -32600);
  Call(client, "process/terminate", Named("a"));
  ASSERT_TRUE(RunUntil([&] { return client.Got("process/exited"); }));
  EXPECT_EQ(Start(client, "c", "exit 0").error_code(), 0);
}

TEST_F(SessionTest, LimitsWhatFinishedCommandsLeaveRunning) {
  config_.max_processes_per_session = 1;
  Client& client = ConnectReady();
  for (const char* id : {"a", "b"}) {
    EXPECT_EQ(Start(client, id, "setsid sleep 1000 >/dev/null 2>&1 &").error_code(), 0);
    ASSERT_TRUE(RunUntil([&] { return client.Got("process/closed"); }));
    client.Forget();
  }
  EXPECT_EQ(Start(client, "c", "exit 0").error_code(), -32600);
  Call(client, "process/terminate", R"({"processId":"a","mode":"force"})");
  EXPECT_TRUE(RunUntil([&] { return Start(client, "c", "exit 0").error_code() == 0; }));
}

TEST_F(SessionTest, SharesTheLimitOfWhatFinishedCommandsLeaveRunning) {
  config_.max_processes = 4;
  Client &a = ConnectReady(), &b = ConnectReady();
  for (size_t i = 0; i < 8; ++i) {
    Client& client = i % 2 == 0 ? a : b;
    EXPECT_EQ(Start(client, std::to_string(i), "setsid sleep 1000 >/dev/null 2>&1 &").error_code(), 0) << i;
    ASSERT_TRUE(RunUntil([&] { return parts_->processes.counts.running == 0; }));
  }
  EXPECT_EQ(parts_->processes.counts.alive, 8u);
  for (Client* client : {&a, &b}) EXPECT_EQ(Start(*client, "more", "exit 0").error_code(), -32600);
  Call(a, "process/terminate", R"({"processId":"0","mode":"force"})");
  EXPECT_TRUE(RunUntil([&] { return Start(b, "more", "exit 0").error_code() == 0; }));
}

TEST_F(SessionTest, CountsTheOutputThatAFinishedProcessHolds) {
  Client& client = ConnectReady();
  Start(client, "p", "printf %50000s");
  ASSERT_TRUE(RunUntilClosed(client));
  const std::string session = Message(client.sent().at(0)).Text("result.sessionId");
  client.transport->Disconnect();
  EXPECT_GE((*sessions_->Resume(session))->processes().Find("p")->retained_bytes(), 50'000u);
}

TEST_F(SessionTest, DoesNotCountFailedStarts) {
  config_.max_processes_per_session = 1;
  Client& client = ConnectReady();
  for (int i = 0; i < 3; ++i) {
    Call(client, "process/start", R"({"processId":"p","argv":["/no/such"],"cwd":"/","env":{},"tty":false})");
  }
  EXPECT_EQ(parts_->processes.counts.running, 0u);
  ASSERT_TRUE(RunUntil([&] { return parts_->processes.counts.alive == 0; }));  // the keepers end a moment later
  EXPECT_EQ(Start(client, "q", "exit 0").error_code(), 0);
}

TEST_F(SessionTest, SharesTheLimitOfTheServer) {
  config_.max_processes = 1;
  config_.detached_ttl_ms = 0;
  Client &a = ConnectReady(), &b = ConnectReady();
  Start(a, "p", "sleep 1000");
  EXPECT_EQ(Start(b, "p", "exit 0").error_code(), -32600);
  a.transport->Disconnect();
  EXPECT_TRUE(RunUntil([&] { return Start(b, "p", "exit 0").error_code() == 0; }));
}

TEST_F(SessionTest, CountsNothingWhenEverythingHasEnded) {
  Client& client = ConnectReady();
  Start(client, "a", "exit 0");
  Start(client, "b", "exit 0", R"(,"io":null)");
  Call(client, "process/start", R"({"processId":"c","argv":["/no/such"],"cwd":"/","env":{},"tty":false})");
  ASSERT_TRUE(RunUntil([&] { return client.Notifications("process/closed").size() == 2; }));
  EXPECT_EQ(parts_->processes.counts.running, 0u);
  EXPECT_TRUE(RunUntil([&] { return parts_->processes.counts.alive == 0; }));
}

}  // namespace
}  // namespace holdfast::exec_server
