#include "exec_server/session/session_service.h"

#include <csignal>
#include <filesystem>

#include "exec_server/session/shared_session_fixture.h"
#include "support/scratch_dir.h"

namespace holdfast::exec_server {
namespace {

using testing::ElementsAre;

class SessionServiceTest : public SharedSessionFixture {
 protected:
  pid_t StartSleeper(Client& client, std::string_view id = "p") {
    EXPECT_EQ(Start(client, id, "sleep 1000").error_code(), 0);
    return static_cast<pid_t>(Call(client, "process/list", "{}").Number("result.processes.0.pid"));
  }
  bool RunUntilDead(pid_t pid) {
    return RunUntil([&] { return ::kill(pid, 0) != 0; });
  }

  // Starts a process that exits with 5 when it gets SIGTERM.
  void StartPolite(Client& client, std::string_view id) {
    EXPECT_EQ(Start(client, id, "trap 'exit 5' TERM; echo up; while :; do :; done").error_code(), 0);
    EXPECT_TRUE(RunUntil([&] { return client.Got("process/output"); }));
  }

  std::vector<std::string> ListedNames(Client& client) {
    const Message list = Call(client, "session/list", "{}");
    std::vector<std::string> names;
    for (size_t i = 0; i < list.Size("result.sessions"); ++i) {
      const std::string name = fmt::format("result.sessions.{}.sessionName", i);
      names.push_back(list.Has(name) ? list.Text(name) : "private");
    }
    return names;
  }
};

TEST_F(SessionServiceTest, ListsSharedSessionsAndThePrivateSessionOfTheCaller) {
  Client &sharer = Join(), &loner = ConnectReady(), &outsider = ConnectReady();
  ConnectReady(R"(,"shared":true,"sessionName":"t")");
  EXPECT_THAT(ListedNames(sharer), ElementsAre("s", "t"));
  EXPECT_THAT(ListedNames(loner), ElementsAre("s", "private", "t"));
  loner.transport->Disconnect();
  EXPECT_THAT(ListedNames(outsider), ElementsAre("s", "private", "t"));
}

TEST_F(SessionServiceTest, DescribesASharedSession) {
  Client& driver = Join(R"(,"detachedTtlMs":60000)");
  Client& observer = Join();
  StartSleeper(driver);
  const Message list = Call(observer, "session/list", "{}");
  ASSERT_EQ(list.Size("result.sessions"), 1u);
  EXPECT_EQ(list.Text("result.sessions.0.sessionId"), SessionOf(driver));
  EXPECT_TRUE(list.Flag("result.sessions.0.shared"));
  EXPECT_EQ(list.Text("result.sessions.0.role"), "observer");
  EXPECT_EQ(list.Number("result.sessions.0.connections"), 2);
  EXPECT_EQ(list.Text("result.sessions.0.driver"), "test");
  EXPECT_GT(list.Number("result.sessions.0.createdAtMs"), 1'600'000'000'000);
  EXPECT_EQ(list.Number("result.sessions.0.detachedTtlMs"), 60'000);
  EXPECT_EQ(list.Text("result.sessions.0.processes.0.processId"), "p");
  EXPECT_EQ(list.Text("result.sessions.0.processes.0.state"), "running");
  EXPECT_FALSE(list.Flag("result.truncated"));
}

TEST_F(SessionServiceTest, DescribesASessionThatNobodyIsAttachedTo) {
  Join().transport->Disconnect();
  const Message list = Call(ConnectReady(R"(,"shared":true,"sessionName":"a")"), "session/list", "null");
  const std::string at = "result.sessions.0";  // the oldest is the first
  EXPECT_EQ(list.Text(at + ".sessionName"), "s");
  EXPECT_EQ(list.Number(at + ".connections"), 0);
  EXPECT_FALSE(list.Has(at + ".role") || list.Has(at + ".driver") || list.Has(at + ".detachedTtlMs"));
}

TEST_F(SessionServiceTest, DescribesAPrivateSession) {
  config_.detached_ttl_ms = 1234;
  Client& client = ConnectReady();
  const Message list = Call(client, "session/list", "{}");
  EXPECT_EQ(list.Text("result.sessions.0.sessionId"), SessionOf(client));
  EXPECT_FALSE(list.Flag("result.sessions.0.shared"));
  EXPECT_EQ(list.Text("result.sessions.0.role"), "driver");
  EXPECT_EQ(list.Number("result.sessions.0.detachedTtlMs"), 1234);
}

TEST_F(SessionServiceTest, MakesALongListOnlyWhenTheBudgetHasRoomForIt) {
  Client& client = Join();
  const std::string long_script = "exit 0 #" + std::string(4000, '\x01');
  for (const char* id : {"a", "b", "c"}) Start(client, id, long_script);
  for (const char* method : {"session/list", "process/list"}) {
    auto others = parts_->held->Open();
    others.Resize(config_.max_held_bytes);
    const int long_list = client.Ask(method, "{}");
    support::RunReady(loop_);
    EXPECT_FALSE(client.AnswerTo(long_list)) << method;
    EXPECT_EQ(Call(ConnectReady(), "process/list", "{}").error_code(), 0) << "a short list needs no room";
    others.Resize(0);
    ASSERT_TRUE(RunUntil([&] { return client.AnswerTo(long_list).has_value(); })) << method;
    EXPECT_GT(client.AnswerTo(long_list)->text().size(), 64u << 10) << method;
    EXPECT_EQ(parts_->held->held(), 0u) << method;
  }
}

TEST_F(SessionServiceTest, RefusesAListThatIsLongerThanTheBudget) {
  config_.max_held_bytes = 32 << 10;
  Boot();
  Client& client = Join();
  const std::string long_script = "exit 0 #" + std::string(4000, '\x01');
  for (const char* id : {"a", "b", "c"}) Start(client, id, long_script);
  EXPECT_THAT(Call(client, "session/list", "{}").Text("error.message"), testing::HasSubstr("max_held_bytes"));
}

TEST_F(SessionServiceTest, KeepsASharedSessionUntilItIsEnded) {
  config_.detached_ttl_ms = 0;
  Client& client = Join();
  const pid_t pid = StartSleeper(client);
  client.transport->Disconnect();
  support::RunReady(loop_);
  EXPECT_EQ(sessions_->size(), 1u);
  EXPECT_EQ(::kill(pid, 0), 0);
  Client& again = Join();
  EXPECT_EQ(SessionOf(again), SessionOf(client));
  EXPECT_EQ(RoleOf(again), "driver");
}

TEST_F(SessionServiceTest, EndsASharedSessionWhenItsTimeIsOver) {
  const support::ScratchDir dir;
  Client &first = Join(R"(,"detachedTtlMs":30)"), &second = Join();
  Start(first, "p", fmt::format("trap ': >{}/asked; exit' TERM; echo up; while :; do :; done", dir.path()));
  ASSERT_TRUE(RunUntil([&] { return second.Got("process/output"); }));
  first.transport->Disconnect();
  EXPECT_EQ(Call(second, "process/list", "{}").Size("result.processes"), 1u);
  second.transport->Disconnect();
  EXPECT_TRUE(RunUntil([&] { return sessions_->size() == 0 && parts_->processes.counts.alive == 0; }));
  EXPECT_TRUE(std::filesystem::exists(dir.path() + "/asked"));
}

TEST_F(SessionServiceTest, TakesTheTimeOfASessionFromTheClientThatCreatesIt) {
  Client& first = Join();
  Client& second = Join(R"(,"detachedTtlMs":0)");
  first.transport->Disconnect();
  second.transport->Disconnect();
  EXPECT_EQ(sessions_->size(), 1u);
}

TEST_F(SessionServiceTest, ChangesHowLongASessionIsKept) {
  Client& client = Join(R"(,"detachedTtlMs":0)");
  EXPECT_EQ(Call(client, "session/keep", R"({"detachedTtlMs":null})").error_code(), 0);
  client.transport->Disconnect();
  EXPECT_EQ(sessions_->size(), 1u);
  Client& again = Join();
  EXPECT_EQ(Call(again, "session/keep", R"({"detachedTtlMs":0})").error_code(), 0);
  again.transport->Disconnect();
  EXPECT_EQ(sessions_->size(), 0u);
}

TEST_F(SessionServiceTest, KeepsOnlySharedSessions) {
  EXPECT_EQ(Call(ConnectReady(), "session/keep", "{}").error_code(), -32600);
}

TEST_F(SessionServiceTest, EndsASessionForAClientThatIsNotInIt) {
  Client &driver = Join(), &observer = Join(), &outsider = ConnectReady();
  StartPolite(driver, "p");
  EXPECT_EQ(Call(outsider, "session/end", R"({"sessionName":"s"})").error_code(), 0);
  EXPECT_EQ(parts_->processes.counts.alive, 0u);
  EXPECT_EQ(driver.Notifications("process/exited").at(0).Number("params.exitCode"), 5);
  for (Client* client : {&driver, &observer}) {
    EXPECT_EQ(Message(client->sent().back()).Text("method"), "session/ended");
    EXPECT_EQ(Message(client->sent().back()).Text("params.sessionId"), SessionOf(driver));
    EXPECT_FALSE(client->transport->connected());
  }
  EXPECT_TRUE(outsider.transport->connected());
  EXPECT_EQ(sessions_->size(), 1u);
  EXPECT_NE(SessionOf(Join()), SessionOf(driver));
}

TEST_F(SessionServiceTest, AnswersAClientThatEndsItsOwnSessionBeforeItLeaves) {
  Client& driver = Join();
  const pid_t pid = StartSleeper(driver);
  const Message answer = Call(driver, "session/end", "{}");
  EXPECT_EQ(answer.error_code(), 0);
  EXPECT_FALSE(driver.transport->connected());
  EXPECT_EQ(Message(driver.sent().back()).Text("method"), "session/ended");
  EXPECT_EQ(Message(driver.sent().at(driver.sent().size() - 2)).text(), answer.text());
  EXPECT_TRUE(RunUntilDead(pid));
}

TEST_F(SessionServiceTest, EndsAPrivateSessionForItsOwnConnectionOnly) {
  Client &owner = ConnectReady(), &other = ConnectReady();
  const std::string end = fmt::format(R"({{"sessionId":"{}"}})", SessionOf(owner));
  EXPECT_EQ(Call(other, "session/end", end).error_code(), -32600);
  EXPECT_EQ(Call(owner, "session/end", end).error_code(), 0);
  EXPECT_FALSE(owner.transport->connected());
  EXPECT_EQ(sessions_->size(), 1u);
}

TEST_F(SessionServiceTest, RefusesToEndWhatItDoesNotKnow) {
  Client& client = Join();
  EXPECT_EQ(Call(client, "session/end", R"({"sessionName":"no such"})").error_code(), -32600);
  EXPECT_EQ(Call(client, "session/end", R"({"sessionId":"no such"})").error_code(), -32600);
  EXPECT_EQ(Call(client, "session/end", R"({"sessionId":"a","sessionName":"s"})").error_code(), -32602);
  EXPECT_TRUE(client.transport->connected());
}

TEST_F(SessionServiceTest, EndsASessionOnce) {
  Client &driver = Join(), &outsider = ConnectReady();
  StartPolite(driver, "p");
  const int end = outsider.Ask("session/end", R"({"sessionName":"s"})");
  EXPECT_EQ(Call(driver, "session/end", "{}").error_code(), -32600);
  EXPECT_EQ(Start(driver, "late", "exit 0").error_code(), -32600);
  EXPECT_TRUE(RunUntil([&] { return outsider.AnswerTo(end).has_value(); }));
}

TEST_F(SessionServiceTest, KeepsFinishedProcessesOfASharedSession) {
  config_.exited_retention_ms = 1;
  Boot();
  Client &sharer = Join(), &loner = ConnectReady();
  for (Client* client : {&sharer, &loner}) {
    Start(*client, "p", "echo kept; exit 4");
    ASSERT_TRUE(RunUntilClosed(*client));
  }
  ASSERT_TRUE(RunUntil([&] { return Call(loner, "process/read", Named("p")).error_code() == -32600; }));
  EXPECT_EQ(Call(sharer, "process/read", Named("p")).Bytes("result.chunks.0.chunk"), "kept\n");
  EXPECT_EQ(Call(sharer, "session/list", "{}").Number("result.sessions.0.processes.0.exitCode"), 4);
}

}  // namespace
}  // namespace holdfast::exec_server
