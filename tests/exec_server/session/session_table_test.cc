#include "exec_server/session/session_table.h"

#include "exec_server/server_fixture.h"

namespace holdfast::exec_server {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class SessionTableTest : public ServerFixture {
 protected:
  static std::string SessionOf(const Client& client) { return Message(client.sent().at(0)).Text("result.sessionId"); }

  Client& Resume(const std::string& session) {
    return ConnectReady(fmt::format(R"(,"resumeSessionId":"{}")", session));
  }

  static int64_t HandshakeCode(const Client& client) { return client.AnswerTo(0)->error_code(); }

  // Starts a process that never ends by itself, and returns its pid.
  pid_t StartSleeper(Client& client, std::string_view id = "p") {
    EXPECT_EQ(Start(client, id, "exec sleep 1000").error_code(), 0);
    return static_cast<pid_t>(Call(client, "process/list", "{}").Number("result.processes.0.pid"));
  }

  // Starts two processes that run the script, waits until each has printed something, ends all sessions with that
  // grace, and returns the exit codes.
  std::vector<int64_t> ExitCodesAtTheEnd(Client& client, std::string_view script, std::chrono::milliseconds grace) {
    for (const char* id : {"p", "q"}) Start(client, id, script);
    EXPECT_TRUE(RunUntil([&] { return client.Notifications("process/output").size() == 2; }));
    bool ended = false;
    sessions_->EndAll(grace, [&] { ended = true; });
    EXPECT_TRUE(RunUntil([&] { return ended; }));
    std::vector<int64_t> codes;
    for (const Message& exited : client.Notifications("process/exited")) {
      codes.push_back(exited.Number("params.exitCode"));
    }
    return codes;
  }

  bool RunUntilDead(pid_t pid) {
    return RunUntil([&] { return ::kill(pid, 0) != 0; });
  }
};

TEST_F(SessionTableTest, GivesEachClientASessionOfItsOwn) {
  Client &a = ConnectReady(), &b = ConnectReady();
  EXPECT_NE(SessionOf(a), SessionOf(b));
  EXPECT_EQ(Start(a, "p", "exit 0").error_code(), 0);
  EXPECT_EQ(Start(b, "p", "exit 0").error_code(), 0);
}

TEST_F(SessionTableTest, ResumesADetachedSessionWithItsProcesses) {
  Client& first = ConnectReady();
  const std::string session = SessionOf(first);
  Start(first, "p", "read line; echo got $line", R"(,"pipeStdin":true)");
  first.transport->Disconnect();
  Client& second = Resume(session);
  EXPECT_EQ(SessionOf(second), session);
  Call(second, "process/write", fmt::format(R"({{"processId":"p","chunk":"{}"}})", support::Base64("hi\n")));
  ASSERT_TRUE(RunUntil([&] { return second.Got("process/closed"); }));
  EXPECT_EQ(second.Notifications("process/output").at(0).Bytes("params.chunk"), "got hi\n");
}

TEST_F(SessionTableTest, KeepsWhatWasWrittenWhileNobodyWasThere) {
  Client& first = ConnectReady();
  const std::string session = SessionOf(first);
  Start(first, "p", "read line; echo missed; exit 3", R"(,"pipeStdin":true)");
  Call(first, "process/closeStdin", Named("p"));
  first.transport->Disconnect();
  ASSERT_TRUE(RunUntil([&] { return (*sessions_->Resume(session))->processes().Find("p")->process().closed(); }));
  Client& second = Resume(session);
  EXPECT_FALSE(second.Got("process/output"));
  const Message read = Call(second, "process/read", Named("p"));
  EXPECT_EQ(read.Bytes("result.chunks.0.chunk"), "missed\n");
  EXPECT_EQ(read.Number("result.exitCode"), 3);
  EXPECT_EQ(read.Number("result.nextSeq"), 4);
}

TEST_F(SessionTableTest, RefusesASessionThatIsAttached) {
  Client& first = ConnectReady();
  EXPECT_EQ(HandshakeCode(Resume(SessionOf(first))), -32010);
  EXPECT_EQ(Call(first, "process/list", "{}").error_code(), 0);
}

TEST_F(SessionTableTest, RefusesASessionNobodyHasOpened) {
  EXPECT_EQ(HandshakeCode(Resume("11111111-2222-4333-8444-555555555555")), -32600);
}

TEST_F(SessionTableTest, EndsASessionWhoseClientStaysAway) {
  config_.detached_ttl_ms = 50;
  Client& client = ConnectReady();
  const pid_t pid = StartSleeper(client);
  client.transport->Disconnect();
  EXPECT_EQ(sessions_->size(), 1u);
  EXPECT_TRUE(RunUntilDead(pid));
  EXPECT_EQ(sessions_->size(), 0u);
  EXPECT_EQ(HandshakeCode(Resume(SessionOf(client))), -32600);
}

TEST_F(SessionTableTest, ForgetsTheDeadlineOnceTheClientIsBack) {
  config_.detached_ttl_ms = 50;
  Client& first = ConnectReady();
  Start(first, "p", "sleep 0.2; echo alive");
  first.transport->Disconnect();
  Client& second = Resume(SessionOf(first));
  ASSERT_TRUE(RunUntil([&] { return second.Got("process/closed"); }));
  EXPECT_EQ(second.Notifications("process/output").at(0).Bytes("params.chunk"), "alive\n");
}

TEST_F(SessionTableTest, EndsASessionAtOnceWithoutATtl) {
  config_.detached_ttl_ms = 0;
  Client& client = ConnectReady();
  const pid_t pid = StartSleeper(client);
  client.transport->Disconnect();
  EXPECT_EQ(sessions_->size(), 0u);
  EXPECT_TRUE(RunUntilDead(pid));
}

TEST_F(SessionTableTest, LimitsTheNumberOfSessions) {
  config_.max_sessions = 2;
  config_.detached_ttl_ms = 0;
  Client& first = ConnectReady();
  ConnectReady();
  Client& third = ConnectReady();
  EXPECT_EQ(HandshakeCode(third), -32600);
  first.transport->Disconnect();
  EXPECT_EQ(HandshakeCode(ConnectReady()), 0);
}

TEST_F(SessionTableTest, MakesRoomFromTheSessionThatIsDetachedLongest) {
  config_.max_sessions = 2;
  Client& first = ConnectReady();
  Client& second = ConnectReady();
  second.transport->Disconnect();
  first.transport->Disconnect();
  EXPECT_EQ(HandshakeCode(ConnectReady()), 0);
  EXPECT_EQ(HandshakeCode(Resume(SessionOf(second))), -32600);
  EXPECT_EQ(HandshakeCode(Resume(SessionOf(first))), 0);
}

TEST_F(SessionTableTest, MakesNoRoomFromASessionWithALiveProcess) {
  config_.max_sessions = 2;
  Client& busy = ConnectReady();
  const pid_t pid = StartSleeper(busy);
  Client& finished = ConnectReady();
  EXPECT_EQ(Start(finished, "p", "exit 0").error_code(), 0);
  busy.transport->Disconnect();
  finished.transport->Disconnect();
  ASSERT_TRUE(RunUntil([&] { return parts_->processes.counts.alive == 1; }));
  Client& third = ConnectReady();
  EXPECT_EQ(HandshakeCode(third), 0);
  EXPECT_EQ(HandshakeCode(Resume(SessionOf(finished))),
            -32600);  // the younger session was ended, because no process of it is alive
  EXPECT_EQ(HandshakeCode(ConnectReady()), -32600);
  EXPECT_EQ(::kill(pid, 0), 0);
  EXPECT_EQ(HandshakeCode(Resume(SessionOf(busy))), 0);
}

TEST_F(SessionTableTest, MakesNoRoomFromASessionWhoseCommandLeftSomethingRunning) {
  config_.max_sessions = 1;
  Client& client = ConnectReady();
  Start(client, "p", "setsid sleep 1000 >/dev/null 2>&1 &");
  ASSERT_TRUE(RunUntil([&] { return client.Got("process/closed"); }));
  client.transport->Disconnect();
  EXPECT_EQ(HandshakeCode(ConnectReady()), -32600);
}

TEST_F(SessionTableTest, AsksAllToEnd) {
  Client& client = ConnectReady();
  EXPECT_THAT(ExitCodesAtTheEnd(client, "trap 'echo bye; exit 7' TERM; echo up; while :; do :; done", 60s),
              ElementsAre(7, 7));
}

TEST_F(SessionTableTest, KillsThoseThatDoNotEndWithinTheGrace) {
  Client& client = ConnectReady();
  EXPECT_THAT(ExitCodesAtTheEnd(client, "trap '' TERM; echo up; sleep 1000", 50ms), ElementsAre(137, 137));
}

TEST_F(SessionTableTest, StartsNothingWhileAllAreAskedToEnd) {
  Client& client = ConnectReady();
  Start(client, "p", "trap 'read go; exit 7' TERM; echo up; while :; do :; done", R"(,"pipeStdin":true)");
  ASSERT_TRUE(RunUntil([&] { return client.Got("process/output"); }));
  bool ended = false;
  sessions_->EndAll(60s, [&] { ended = true; });
  EXPECT_EQ(Start(client, "late", "exit 0").error_code(), -32600);
  EXPECT_FALSE(ended);
  Call(client, "process/write", fmt::format(R"({{"processId":"p","chunk":"{}"}})", support::Base64("go\n")));
  EXPECT_TRUE(RunUntil([&] { return ended; }));
}

TEST_F(SessionTableTest, CreatesNothingOnceAllAreEnded) {
  Client& early = Connect();
  sessions_->EndAll(0ms, [] {});
  EXPECT_FALSE(sessions_->Create());
  early.Deliver(R"({"id":0,"method":"initialize","params":{"clientName":"test"}})");
  EXPECT_EQ(HandshakeCode(early), -32600);
  EXPECT_EQ(sessions_->size(), 0u);
}

TEST_F(SessionTableTest, EndsAllAtOnceWhenThereIsNone) {
  bool ended = false;
  sessions_->EndAll(60s, [&] { ended = true; });
  EXPECT_TRUE(ended);
}

TEST_F(SessionTableTest, MakesRoomFromASharedSessionIfThereIsNoPrivateOne) {
  config_.max_sessions = 2;
  const auto share = [&](std::string_view name) -> Client& {
    return ConnectReady(fmt::format(R"(,"shared":true,"sessionName":"{}")", name));
  };
  share("kept").transport->Disconnect();
  ConnectReady().transport->Disconnect();
  Client& first = ConnectReady();
  EXPECT_EQ(HandshakeCode(first), 0);
  EXPECT_TRUE(sessions_->FindShared("kept"));
  EXPECT_EQ(HandshakeCode(ConnectReady()), 0);
  EXPECT_FALSE(sessions_->FindShared("kept"));
  first.transport->Disconnect();
}

TEST_F(SessionTableTest, MakesNoRoomFromASharedSessionWithALiveProcess) {
  config_.max_sessions = 1;
  Client& client = ConnectReady(R"(,"shared":true,"sessionName":"busy")");
  const pid_t pid = StartSleeper(client);
  client.transport->Disconnect();
  EXPECT_EQ(HandshakeCode(ConnectReady()), -32600);
  EXPECT_EQ(::kill(pid, 0), 0);
}

}  // namespace
}  // namespace holdfast::exec_server
