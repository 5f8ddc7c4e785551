#include <filesystem>

#include "exec_server/session/shared_session_fixture.h"
#include "support/eventually.h"
#include "support/scratch_dir.h"

namespace holdfast::exec_server {
namespace {

class SharedSessionTest : public SharedSessionFixture {};

TEST_F(SharedSessionTest, IsFoundByItsName) {
  Client &first = Join(), &second = Join();
  Client& other = ConnectReady(R"(,"shared":true,"sessionName":"other")");
  EXPECT_EQ(first.AnswerTo(0)->Text("result.sessionName"), "s");
  EXPECT_EQ(SessionOf(second), SessionOf(first));
  EXPECT_NE(SessionOf(other), SessionOf(first));
  EXPECT_EQ(sessions_->size(), 2u);
}

TEST_F(SharedSessionTest, HasOneDriver) {
  EXPECT_EQ(RoleOf(Join()), "driver");
  EXPECT_EQ(RoleOf(Join()), "observer");
  EXPECT_EQ(RoleOf(JoinAs("observer")), "observer");
}

TEST_F(SharedSessionTest, LeavesTheAnswerOfAPrivateSessionAsItIs) {
  for (const char* more : {"", R"(,"shared":false)", R"(,"shared":null,"role":null)"}) {
    const auto answer = ConnectReady(more).AnswerTo(0);
    EXPECT_EQ(answer->error_code(), 0) << more;
    EXPECT_FALSE(answer->Has("result.role") || answer->Has("result.sessionName")) << more;
  }
}

TEST_F(SharedSessionTest, RefusesMembersThatDoNotFitTogether) {
  const std::string long_name(65, 'x');
  for (const std::string& more :
       {std::string(R"("sessionName":"s")"), std::string(R"("shared":false,"sessionName":"s")"),
        std::string(R"("shared":true)"), std::string(R"("role":"driver")"), std::string(R"("detachedTtlMs":5)"),
        std::string(R"("shared":true,"sessionName":"")"), std::string(R"("shared":true,"sessionName":"a/b")"),
        std::string(R"("shared":true,"sessionName":".")"), std::string(R"("shared":true,"sessionName":"..")"),
        std::string(R"("shared":true,"sessionName":"a b")"), std::string(R"("shared":true,"sessionName":"\u00e4")"),
        R"("shared":true,"sessionName":")" + long_name + R"(")",
        std::string(R"("shared":true,"sessionName":"s","role":"king")"),
        std::string(R"("shared":true,"sessionName":"s","resumeSessionId":"x")")}) {
    EXPECT_EQ(HandshakeCode(ConnectReady("," + more)), -32602) << more;
  }
  EXPECT_EQ(sessions_->size(), 0u);
}

TEST_F(SharedSessionTest, TakesEveryNameThatIsAllowed) {
  for (const std::string& name : {std::string("a"), std::string("Az09._-"), std::string(64, 'x')}) {
    EXPECT_EQ(HandshakeCode(ConnectReady(fmt::format(R"(,"shared":true,"sessionName":"{}")", name))), 0) << name;
  }
}

TEST_F(SharedSessionTest, CanBeResumedByItsIdWhileOthersAreAttached) {
  const std::string session = SessionOf(Join());
  Client& resumed = ConnectReady(fmt::format(R"(,"resumeSessionId":"{}")", session));
  EXPECT_EQ(SessionOf(resumed), session);
  EXPECT_EQ(resumed.AnswerTo(0)->Text("result.sessionName"), "s");
  EXPECT_EQ(RoleOf(resumed), "observer");
  EXPECT_EQ(RoleOf(ConnectReady(fmt::format(R"(,"resumeSessionId":"{}","role":"driver")", session))), "driver");
}

TEST_F(SharedSessionTest, GivesARoleOnlyInASharedSession) {
  config_.detached_ttl_ms = 50;
  Client& client = ConnectReady();
  client.transport->Disconnect();
  EXPECT_EQ(HandshakeCode(ConnectReady(fmt::format(R"(,"resumeSessionId":"{}","role":"driver")", SessionOf(client)))),
            -32602);
  EXPECT_TRUE(RunUntil([&] { return sessions_->size() == 0; }));  // its time goes on
}

TEST_F(SharedSessionTest, LetsAnObserverOnlyLook) {
  Client &driver = Join(), &observer = Join();
  Start(driver, "p", "echo kept; read line", R"(,"pipeStdin":true)");
  ASSERT_TRUE(RunUntil([&] { return driver.Got("process/output"); }));
  for (const auto& [method, params] : std::vector<std::pair<std::string, std::string>>{
           {"process/start", StartParams("q", "exit 0")},
           {"process/write", Writing("p", "x")},
           {"process/closeStdin", Named("p")},
           {"process/resize", R"({"processId":"p","rows":1,"cols":1})"},
           {"process/signal", R"({"processId":"p","signal":"interrupt"})"},
           {"process/terminate", Named("p")},
           {"fs/createDirectory", R"({"path":"/no/such/directory/to/make"})"},
           {"fs/remove", R"({"path":"/no/such/file"})"},
           {"fs/open", R"({"handleId":"1","path":"/no/such/file","mode":"replace"})"},
           {"fs/open", R"({"handleId":"1","path":"/no/such/file","mode":"update"})"},
           {"fs/writeBlock", R"({"handleId":"1","offset":0,"chunk":"eA=="})"},
           {"session/keep", "{}"},
           {"session/end", "{}"}}) {
    const Message answer = Call(observer, method, params);
    EXPECT_EQ(answer.error_code(), -32600) << method;
    EXPECT_EQ(answer.Text("error.message"), kObserves) << method;
  }
  EXPECT_EQ(Call(observer, "process/read", Named("p")).Bytes("result.chunks.0.chunk"), "kept\n");
  EXPECT_EQ(Call(observer, "process/list", "{}").Text("result.processes.0.state"), "running");
  EXPECT_EQ(Call(observer, "process/snapshot", Named("p")).error_code(), 0);
  EXPECT_EQ(Call(observer, "fs/getMetadata", R"({"path":"/"})").error_code(), 0);
  EXPECT_EQ(Call(observer, "environment/info", "{}").error_code(), 0);
}

TEST_F(SharedSessionTest, LetsAnObserverReadFilesInBlocks) {
  const support::ScratchDir dir;
  const std::string path = dir.Write("file", "content");
  Join();
  Client& observer = Join();
  EXPECT_EQ(Call(observer, "fs/open", fmt::format(R"({{"handleId":"1","path":"{}"}})", path)).error_code(), 0);
  const Message block = Call(observer, "fs/readBlock", R"({"handleId":"1","offset":0,"len":100})");
  EXPECT_EQ(block.Bytes("result.chunk"), "content");
  EXPECT_EQ(Call(observer, "fs/close", R"({"handleId":"1"})").error_code(), 0);
}

TEST_F(SharedSessionTest, IsTakenOverByAClientThatWantsToDrive) {
  Client& former = Join();
  Client& driver = JoinAs("driver");
  EXPECT_EQ(RoleOf(driver), "driver");
  const auto told = former.Notifications("session/roleChanged");
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].Text("params.sessionId"), SessionOf(former));
  EXPECT_EQ(told[0].Text("params.role"), "observer");
  EXPECT_EQ(Start(former, "p", "exit 0").Text("error.message"), kObserves);
  EXPECT_EQ(Start(driver, "p", "exit 0").error_code(), 0);
}

TEST_F(SharedSessionTest, IsTakenOverByAnObserver) {
  Client &former = Join(), &observer = Join();
  EXPECT_EQ(Call(observer, "session/takeOver", "{}").Text("result.role"), "driver");
  EXPECT_EQ(former.Notifications("session/roleChanged").size(), 1u);
  EXPECT_EQ(Start(former, "p", "exit 0").Text("error.message"), kObserves);
  EXPECT_EQ(Start(observer, "p", "echo hi").error_code(), 0);
  ASSERT_TRUE(RunUntilClosed(former));
  EXPECT_EQ(Events(former), Events(observer));
}

TEST_F(SharedSessionTest, StaysWithADriverThatTakesOver) {
  Client& driver = Join();
  EXPECT_EQ(Call(driver, "session/takeOver", "null").Text("result.role"), "driver");
  EXPECT_FALSE(driver.Got("session/roleChanged"));
  Start(driver, "p", "echo hi");
  ASSERT_TRUE(RunUntilClosed(driver));
  EXPECT_EQ(Seqs(driver, "p"), UpTo(3));
}

TEST_F(SharedSessionTest, TellsEveryoneEachEventOnceAcrossATakeOver) {
  Client &former = Join(), &next = Join();
  Start(former, "p", "echo one; read line; echo two", R"(,"pipeStdin":true)");
  ASSERT_TRUE(RunUntil([&] { return next.Got("process/output"); }));
  Call(next, "session/takeOver", "{}");
  Call(next, "process/closeStdin", Named("p"));
  ASSERT_TRUE(RunUntilClosed(next));
  EXPECT_EQ(Seqs(next, "p"), UpTo(4));
  EXPECT_EQ(Seqs(former, "p"), UpTo(4));
}

TEST_F(SharedSessionTest, IsTakenOverWhenTheObserverHasReadWhatItMissed) {
  Client &driver = Join(), &behind = Join();
  behind.transport->is_congested = true;
  Start(driver, "p", "head -c 500000 /dev/zero; read line", R"(,"pipeStdin":true)");
  ASSERT_TRUE(RunUntil([&] { return driver.Notifications("process/output").size() >= 5; }));
  const int take_over = behind.Ask("session/takeOver", "{}");
  EXPECT_FALSE(behind.AnswerTo(take_over));
  EXPECT_EQ(Call(driver, "process/closeStdin", Named("p")).error_code(), 0);
  ASSERT_TRUE(RunUntilClosed(driver));
  behind.transport->DrainFor(3);
  EXPECT_FALSE(behind.AnswerTo(take_over));
  EXPECT_FALSE(driver.Got("session/roleChanged"));
  behind.transport->DrainFor(1000);
  ASSERT_TRUE(behind.AnswerTo(take_over));
  EXPECT_EQ(Message(behind.sent().back()).Text("result.role"), "driver");
  EXPECT_EQ(Events(behind), Events(driver));
  EXPECT_TRUE(driver.Got("session/roleChanged"));
}

TEST_F(SharedSessionTest, GoesOnWhenItsCongestedDriverIsReplaced) {
  const support::ScratchDir dir;
  const std::string flag = dir.path() + "/written";
  Client &former = Join(), &next = Join();
  former.transport->is_congested = true;
  Start(former, "p", "echo hi; : >" + flag + "; head -c 500000 /dev/zero");
  ASSERT_TRUE(support::Eventually([&] { return std::filesystem::exists(flag); }));
  support::RunReady(loop_);  // the loop sees that there is output, and must not read it
  EXPECT_FALSE(next.Got("process/output"));
  Call(next, "session/takeOver", "{}");
  ASSERT_TRUE(RunUntilClosed(next));
  EXPECT_FALSE(former.Got("process/output"));
  former.transport->Drain();
  EXPECT_EQ(Events(former), Events(next));
}

TEST_F(SharedSessionTest, LetsTheRequestsOfTheFormerDriverFinish) {
  Client &former = Join(), &next = Join();
  const int start = former.Ask("process/start", StartParams("p", "read line; exit 6", R"(,"pipeStdin":true)"));
  const int wait = former.Ask("process/wait", Named("p"));
  Call(next, "session/takeOver", "{}");
  Call(next, "process/closeStdin", Named("p"));
  ASSERT_TRUE(RunUntil([&] { return former.AnswerTo(wait).has_value(); }));
  EXPECT_EQ(former.AnswerTo(start)->Text("result.processId"), "p");
  EXPECT_EQ(former.AnswerTo(wait)->Number("result.exitCode"), 6);
}

TEST_F(SharedSessionTest, DropsTheWritesOfAConnectionThatEndsAndNoOthers) {
  Client &former = Join(), &next = Join();
  Start(former, "p", "sleep 1000", R"(,"pipeStdin":true)");
  const auto write = [](Client& client, std::string_view id) {
    return client.Ask("process/write", fmt::format(R"({{"processId":"p","chunk":"eA==","writeId":"{}"}})", id));
  };
  Call(former, "process/write", Writing("p", std::string(1'100'000, 'x')));
  former.Ask("process/write",
             Writing("p", std::string(1'100'000, 'y')));  // admitted, because the pipe holds some bytes
  const int of_former = write(former, "former");
  Call(next, "session/takeOver", "{}");
  const int of_next = write(next, "next");
  former.transport->Disconnect();
  EXPECT_FALSE(former.AnswerTo(of_former));
  EXPECT_FALSE(next.AnswerTo(of_next));
  const int again = write(next, "former");  // it would be answered at once if the server still knew the write
  EXPECT_FALSE(next.AnswerTo(again));
  EXPECT_EQ(next.AnswerTo(write(next, "next"))->Text("result.status"), "accepted");
}

TEST_F(SharedSessionTest, KeepsTheWritesOfAFormerDriverWhenItsDriverLeaves) {
  Client &former = Join(), &next = Join();
  Start(former, "p", "sleep 1000", R"(,"pipeStdin":true)");
  Call(former, "process/write", Writing("p", std::string(1'100'000, 'x')));
  former.Ask("process/write", Writing("p", std::string(1'100'000, 'y')));
  const int held = former.Ask("process/write", Writing("p", "z"));
  Call(next, "session/takeOver", "{}");
  next.transport->Disconnect();
  EXPECT_FALSE(former.AnswerTo(held));
  Call(former, "process/terminate", Named("p"));
  ASSERT_TRUE(RunUntil([&] { return former.AnswerTo(held).has_value(); }));
  EXPECT_EQ(former.AnswerTo(held)->error_code(), 0);
}

TEST_F(SharedSessionTest, IsDrivenByTheFormerDriverWhenItsDriverHasLeft) {
  Client &former = Join(), &observer = Join(), &next = JoinAs("driver");
  next.transport->Disconnect();
  const auto told = former.Notifications("session/roleChanged");
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[1].Text("params.role"), "driver");
  EXPECT_FALSE(observer.Got("session/roleChanged"));
  EXPECT_EQ(Start(former, "p", "echo hi").error_code(), 0);
  ASSERT_TRUE(RunUntilClosed(former));
  EXPECT_EQ(Seqs(former, "p"), UpTo(3));
  EXPECT_EQ(Events(observer), Events(former));
}

TEST_F(SharedSessionTest, IsDrivenByTheFormerDriverWhenThatHasReadWhatItMissed) {
  Client &former = Join(), &next = JoinAs("driver");
  former.transport->is_congested = true;
  Start(next, "p", "echo one; read line; echo two", R"(,"pipeStdin":true)");
  ASSERT_TRUE(RunUntil([&] { return next.Got("process/output"); }));
  next.transport->Disconnect();
  EXPECT_EQ(former.Notifications("session/roleChanged").size(), 1u);
  EXPECT_EQ(RoleOf(Join()), "observer");
  former.transport->Drain();
  EXPECT_EQ(former.Notifications("session/roleChanged").size(), 2u);
  Call(former, "process/closeStdin", Named("p"));
  ASSERT_TRUE(RunUntilClosed(former));
  EXPECT_EQ(Seqs(former, "p"), UpTo(4));
}

TEST_F(SharedSessionTest, IsNotDrivenByAFormerDriverIfAnotherClientWasFaster) {
  Client &former = Join(), &next = JoinAs("driver");
  former.transport->is_congested = true;
  Start(next, "p", "echo one");
  ASSERT_TRUE(RunUntilClosed(next));
  next.transport->Disconnect();
  Client& third = JoinAs("driver");
  former.transport->Drain();
  EXPECT_EQ(former.Notifications("session/roleChanged").size(), 1u);
  EXPECT_EQ(Start(former, "q", "exit 0").Text("error.message"), kObserves);
  EXPECT_EQ(Start(third, "q", "exit 0").error_code(), 0);
  ASSERT_TRUE(RunUntil([&] { return former.Notifications("process/closed").size() == 2; }));
  EXPECT_EQ(Seqs(former, "p"), UpTo(3));
}

TEST_F(SharedSessionTest, WaitsForADriverWhenItsDriverHasLeft) {
  Client &former = Join(), &observer = Join();
  former.transport->Disconnect();
  EXPECT_EQ(Start(observer, "p", "exit 0").Text("error.message"), kObserves);
  EXPECT_EQ(RoleOf(Join()), "driver");
  EXPECT_FALSE(observer.Got("session/roleChanged"));
}

TEST_F(SharedSessionTest, KeepsTheDriverWhenAnObserverLeaves) {
  Client &driver = Join(), &observer = Join();
  Start(driver, "p", "read line; echo late", R"(,"pipeStdin":true)");
  const int poll = driver.Ask("process/read", R"({"processId":"p","waitMs":600000})");
  const int other_poll = observer.Ask("process/read", R"({"processId":"p","waitMs":600000})");
  observer.transport->Disconnect();
  Call(driver, "process/closeStdin", Named("p"));
  ASSERT_TRUE(RunUntilClosed(driver));
  EXPECT_EQ(driver.AnswerTo(poll)->Bytes("result.chunks.0.chunk"), "late\n");
  EXPECT_FALSE(observer.AnswerTo(other_poll));
}

}  // namespace
}  // namespace holdfast::exec_server
