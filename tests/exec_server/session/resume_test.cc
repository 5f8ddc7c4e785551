// A client whose connection has broken resumes its session while the server still has the old connection.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exec_server/server_fixture.h"

namespace holdfast::exec_server {
namespace {

using rpc::Presence;
using testing::HasSubstr;

constexpr int64_t kAttached = -32010, kRefused = -32600;

class ResumeTest : public ServerFixture {
 protected:
  // Connects a client whose other end gives no sign of life before the test says so.
  Client& ConnectOld() {
    Client& old = ConnectReady();
    session_ = old.AnswerTo(0)->Text("result.sessionId");
    old.transport->presence.reset();
    return old;
  }

  // Sends `initialize` on a new connection.
  Client& Resume() {
    Client& client = Connect();
    client.Deliver(fmt::format(
        R"({{"id":0,"method":"initialize","params":{{"clientName":"t","resumeSessionId":"{}"}}}})", session_));
    return client;
  }

  bool HasResumed(const Client& client) const {
    const auto answer = client.AnswerTo(0);
    return answer && answer->Has("result") && answer->Text("result.sessionId") == session_;
  }

  static int64_t CodeOf(const Client& client) {
    const auto answer = client.AnswerTo(0);
    return answer ? answer->error_code() : 0;
  }

  std::string session_;
};

TEST_F(ResumeTest, AConnectionThatAnswersKeepsItsSession) {
  Client& old = ConnectOld();
  Client& second = Resume();
  EXPECT_EQ(old.transport->probes, 1u);
  EXPECT_FALSE(second.AnswerTo(0)) << "the old connection was not waited for";
  old.transport->AnswerProbes(Presence::kAnswers);
  EXPECT_EQ(CodeOf(second), kAttached);
  EXPECT_TRUE(old.transport->connected());
  EXPECT_TRUE(Call(old, "process/list", "{}").Has("result"));
}

TEST_F(ResumeTest, AConnectionThatIsSilentLosesItsSession) {
  Client& old = ConnectOld();
  EXPECT_EQ(Start(old, "p", "cat").error_code(), 0);
  Client& second = Resume();
  old.transport->AnswerProbes(Presence::kSilent);
  EXPECT_TRUE(HasResumed(second));
  EXPECT_FALSE(old.transport->connected());
  second.Deliver(R"({"method":"initialized"})");
  EXPECT_EQ(Call(second, "process/list", "{}").Text("result.processes.0.processId"), "p");
}

TEST_F(ResumeTest, OfTwoAtOnceOneGetsTheSession) {
  Client& old = ConnectOld();
  Client& second = Resume();
  Client& third = Resume();
  old.transport->AnswerProbes(Presence::kSilent);
  EXPECT_TRUE(HasResumed(second));
  EXPECT_EQ(CodeOf(third), kAttached);
  EXPECT_EQ(second.transport->probes, 1u);
  EXPECT_TRUE(second.transport->connected());
}

TEST_F(ResumeTest, AResumeWhileAnotherIsUnderWayAsksTheNextConnectionToo) {
  ConnectOld();
  Client& second = Resume();
  second.transport->presence.reset();
  Client& third = Resume();
  clients_.front()->transport->AnswerProbes(Presence::kSilent);
  EXPECT_TRUE(HasResumed(second));
  EXPECT_FALSE(third.AnswerTo(0));
  second.transport->AnswerProbes(Presence::kSilent);  // it has broken as well
  EXPECT_TRUE(HasResumed(third));
  EXPECT_FALSE(second.transport->connected());
}

TEST_F(ResumeTest, AnOldConnectionMayCloseMeanwhile) {
  Client& old = ConnectOld();
  Client& second = Resume();
  old.transport->Disconnect();
  EXPECT_TRUE(HasResumed(second));
}

TEST_F(ResumeTest, TheSessionMayEndMeanwhile) {
  Client& old = ConnectOld();
  Client& second = Resume();
  old.Ask("session/end", "{}");
  ASSERT_TRUE(RunUntil([&] { return !old.transport->connected(); }));
  EXPECT_EQ(CodeOf(second), kRefused);
  EXPECT_THAT(second.AnswerTo(0)->Text("error.message"), HasSubstr("unknown session"));
}

TEST_F(ResumeTest, AClientThatGoesWhileItWaitsEvictsNobody) {
  Client& old = ConnectOld();
  Client& second = Resume();
  second.transport->Disconnect();
  loop_.Post([&] { second.connection.reset(); });
  ASSERT_TRUE(RunUntil([&] { return second.connection == nullptr; }));
  old.transport->AnswerProbes(Presence::kSilent);
  EXPECT_TRUE(old.transport->connected());
}

TEST_F(ResumeTest, NothingElseIsServedMeanwhile) {
  ConnectOld();
  Client& second = Resume();
  second.Ask("process/list", "{}");
  EXPECT_THAT(second.sent().back(), HasSubstr("process/list needs initialize first"));
  second.Ask("initialize", R"({"clientName":"t"})");
  EXPECT_THAT(second.sent().back(), HasSubstr("initialize was sent already"));
  second.Deliver(R"({"method":"initialized"})");
  EXPECT_THAT(second.sent().back(), HasSubstr("initialized came before initialize was answered"));
}

}  // namespace
}  // namespace holdfast::exec_server
