// Shared sessions: with the scripted server for what the client sends, and with the built server for several clients.
#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/blocking.h"
#include "client/client_fixture.h"
#include "support/eventually.h"
#include "support/server_process.h"

namespace holdfast::client {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using wire::SessionRole;

class SharedSessionTest : public ClientTest {
 protected:
  void AnswerAs(std::string_view role) {
    server_.Answer("initialize",
                   fmt::format(R"({{"sessionId":"S","environmentInfo":{{"shell":{{"name":"sh","path":"/bin/sh"}}}},)"
                               R"("sessionName":"build","role":"{}"}})",
                               role));
  }
};

TEST_F(SharedSessionTest, AsksForASessionByItsName) {
  AnswerAs("observer");
  const auto client =
      Connect({.session = SharedSession{.name = "build", .role = SessionRole::kObserver, .detached_ttl = 5s}});
  const auto greeting = server_.Got("initialize").at(0);
  EXPECT_EQ(greeting.Text("params.sessionName"), "build");
  EXPECT_TRUE(greeting.Flag("params.shared"));
  EXPECT_EQ(greeting.Text("params.role"), "observer");
  EXPECT_EQ(greeting.Number("params.detachedTtlMs"), 5000);
  EXPECT_EQ(client.role(), SessionRole::kObserver);
}

TEST_F(SharedSessionTest, ResumesByTheIdInItsLastRole) {
  AnswerAs("driver");
  auto client = Connect({.session = SharedSession{.name = "build"}});
  server_.Send(R"({"method":"session/roleChanged","params":{"sessionId":"S","role":"observer"}})");
  EXPECT_EQ(client.role(), SessionRole::kObserver);
  server_.Cut();
  ASSERT_TRUE(RunUntil([&] { return server_.Got("initialize").size() == 2; }));
  const auto greeting = server_.Got("initialize").at(1);
  EXPECT_EQ(greeting.Text("params.resumeSessionId"), "S");
  EXPECT_EQ(greeting.Text("params.role"), "observer");
  EXPECT_FALSE(greeting.Has("params.shared"));
  EXPECT_FALSE(greeting.Has("params.sessionName"));
}

TEST_F(SharedSessionTest, ADriverComesBackWithoutClaimingItsRole) {
  AnswerAs("driver");
  auto client = Connect({.session = SharedSession{.name = "build", .role = SessionRole::kDriver}});
  server_.Cut();
  ASSERT_TRUE(RunUntil([&] { return server_.Got("initialize").size() == 2; }));
  EXPECT_EQ(server_.Got("initialize").at(0).Text("params.role"), "driver");
  EXPECT_FALSE(server_.Got("initialize").at(1).Has("params.role"));
}

TEST_F(SharedSessionTest, ADriverThatComesBackAsAnObserverTakesOverBeforeItsNextChange) {
  AnswerAs("driver");
  auto client = Connect({.session = SharedSession{.name = "build"}});
  std::string told;
  client.session().set_notification_sink([&](const rpc::Notification& it) { told = it.method; });
  AnswerAs("observer");
  server_.Answer("process/list", R"({"processes":[],"truncated":false})");
  server_.Cut();
  ASSERT_TRUE(Run(client.Call<wire::ProcessList>({})));
  EXPECT_EQ(client.role(), SessionRole::kObserver);
  EXPECT_EQ(told, "session/roleChanged");
  EXPECT_TRUE(server_.Got("session/takeOver").empty());
  server_.Answer("session/takeOver", R"({"role":"driver"})");
  server_.Answer("fs/remove", "{}");
  EXPECT_TRUE(Run(client.files().Remove("/x")));
  EXPECT_EQ(server_.Got("session/takeOver").size(), 1U);
  EXPECT_EQ(client.role(), SessionRole::kDriver);
}

TEST_F(SharedSessionTest, AClientThatWasDemotedDoesNotTakeOverByItself) {
  AnswerAs("driver");
  auto client = Connect({.session = SharedSession{.name = "build"}});
  server_.Send(R"({"method":"session/roleChanged","params":{"sessionId":"S","role":"observer"}})");
  server_.Refuse("fs/remove", -32600, "only observes");
  EXPECT_FALSE(Run(client.files().Remove("/x")));
  EXPECT_TRUE(server_.Got("session/takeOver").empty());
}

TEST_F(SharedSessionTest, TakesOver) {
  AnswerAs("observer");
  auto client = Connect({.session = SharedSession{.name = "build"}});
  server_.Answer("session/takeOver", R"({"role":"driver"})");
  EXPECT_TRUE(Run(client.TakeOver()));
  EXPECT_EQ(client.role(), SessionRole::kDriver);
}

TEST_F(SharedSessionTest, DoesNotTakeOverAgainWhenTheAnswerIsLost) {
  AnswerAs("observer");
  auto client = Connect({.session = SharedSession{.name = "build"}});
  const auto taken = Begin(client.TakeOver());
  server_.Cut();
  server_.Answer("session/takeOver", R"({"role":"driver"})");
  ASSERT_TRUE(RunUntil([&] { return taken->has_value(); }));
  EXPECT_EQ((*taken)->error().kind, ErrorKind::kDisconnected);
  EXPECT_EQ(server_.Got("session/takeOver").size(), 1U);
}

TEST_F(SharedSessionTest, ReportsWhatAnObserverHasMissed) {
  AnswerAs("observer");
  auto client = Connect({.session = SharedSession{.name = "build"}});
  const auto process = Start(client);
  server_.SendOutput("p", 1, "a");
  server_.Send(R"({"method":"process/outputLost","params":{"processId":"p","fromSeq":2,"toSeq":5}})");
  server_.SendOutput("p", 6, "b");
  EXPECT_EQ(Text(Run(process->NextEvent())), "a");
  EXPECT_EQ(Text(Run(process->NextEvent())), "lost 2-5");
  EXPECT_EQ(Text(Run(process->NextEvent())), "b");
}

TEST_F(SharedSessionTest, DoesNotComeBackToASessionThatWasEnded) {
  AnswerAs("driver");
  auto client = Connect({.session = SharedSession{.name = "build"}});
  const auto process = Start(client);
  server_.Send(R"({"method":"session/ended","params":{"sessionId":"S"}})");
  EXPECT_EQ(Text(Run(process->NextEvent())), "failed: the session was ended");
  ASSERT_TRUE(RunUntil([&] { return !server_.connected(); }));
  EXPECT_EQ(server_.dials(), 1);
}

TEST(SharedRealSessionTest, AnObserverSeesWhatTheDriverRuns) {
  const auto server = support::ServerProcess::Start();
  const auto join = [&](std::optional<SessionRole> role) {
    return BlockingClient::Connect({.url = server.url(), .session = SharedSession{.name = "build", .role = role}});
  };
  auto driver = join(std::nullopt);
  ASSERT_TRUE(driver) << driver.error().message;
  const auto process = driver->Start({.argv = {"/bin/cat"}, .process_id = "main", .input = Stdin::kOpen});
  ASSERT_TRUE(process) << process.error().message;
  ASSERT_TRUE(driver->Await<void>([&](auto&) { return (*process)->Write("seen\n"); }));
  auto observer = join(std::nullopt);
  ASSERT_TRUE(observer) << observer.error().message;
  const auto watched = observer->Attach("main");
  ASSERT_TRUE(watched) << watched.error().message;
  EXPECT_FALSE(observer->Await<void>([&](auto&) { return (*watched)->Write("x"); }));
  ASSERT_TRUE(driver->Await<void>([&](auto&) { return (*process)->CloseStdin(); }));
  const auto done = observer->Await<Progress>([&](auto&) { return (*watched)->RunFor(10s); });
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->output.out, "seen\n");
  EXPECT_TRUE(done->closed);
}

}  // namespace
}  // namespace holdfast::client
