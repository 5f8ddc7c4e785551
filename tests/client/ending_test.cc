// Tasks that own a client and end at an event: they destroy the client, its process and with them the session, while
// the library is about to go on behind the call that has resumed them.
#include <string>

#include <gtest/gtest.h>

#include "client/client_fixture.h"
#include "support/message.h"

namespace holdfast::client {
namespace {

using support::Message;

constexpr const char* kClosedProcess =
    R"({"chunks":[],"nextSeq":3,"exited":true,"exitCode":0,"closed":true,"failure":null})";

loop::Task<std::string> FollowToTheEnd(ExecServerClient client, std::shared_ptr<Process> process) {
  const ExecServerClient own_client = std::move(client);
  const auto own_process = std::move(process);
  while (true) {
    const ProcessEvent event = co_await own_process->NextEvent();
    if (IsLast(event)) co_return Text(event);
  }
}

loop::Task<std::string> TakeOnePiece(ExecServerClient client, HttpStream stream) {
  const ExecServerClient own_client = std::move(client);
  HttpStream own_stream = std::move(stream);
  const auto piece = co_await own_stream.Next();
  co_return piece ? piece->value_or("end") : piece.error().message;
}

class EndingTest : public ClientTest {
 protected:
  Pending<std::string> BeginToFollow(StartOptions options = {}) {
    auto client = Connect();
    auto process = Start(client, std::move(options));
    return Begin(FollowToTheEnd(std::move(client), std::move(process)));
  }
  Pending<std::string> BeginToTakeAPiece() {
    auto client = Connect();
    server_.Handle("http/request", [this](const Message& request) {
      request_id_ = request.Text("params.requestId");
      return R"("result":{"status":200,"headers":[],"bodyBase64":""})";
    });
    auto stream = Run(client.http().Stream({.url = "http://x/"}));
    return Begin(TakeOnePiece(std::move(client), *std::move(stream)));
  }
  std::string OutcomeOf(const Pending<std::string>& task) {
    EXPECT_TRUE(RunUntil([&] { return task->has_value() && !server_.connected(); }));
    return task->value_or("the task has not ended");
  }

  std::string request_id_;
};

TEST_F(EndingTest, ATaskEndsWhenItsProcessIsClosed) {
  const auto task = BeginToFollow();
  server_.SendExited("p", 1, 0);
  server_.SendClosed("p", 2);
  EXPECT_EQ(OutcomeOf(task), "closed");
}

TEST_F(EndingTest, ATaskEndsWithTheSession) {
  const auto task = BeginToFollow();
  server_.Send(R"({"method":"session/ended","params":{"sessionId":"S"}})");
  EXPECT_EQ(OutcomeOf(task), "failed: the session was ended");
}

TEST_F(EndingTest, ATaskEndsWhenAReconnectFindsItsProcessClosed) {
  const auto task = BeginToFollow();
  server_.Answer("process/read", kClosedProcess);
  server_.Cut();
  EXPECT_EQ(OutcomeOf(task), "closed");
}

TEST_F(EndingTest, ATaskEndsWhenAReconnectDoesNotFindItsProcess) {
  const auto task = BeginToFollow();
  server_.Refuse("process/read", -32600, "unknown process id p");
  server_.Cut();
  EXPECT_EQ(OutcomeOf(task), "failed: unknown process id p");
}

TEST_F(EndingTest, ATaskEndsAtAnEventThatIsReadLater) {
  auto client = Connect();
  auto process = Start(client, {.backlog = {.max_bytes = 2, .when_full = WhenFull::kReadLater}});
  server_.SendOutput("p", 1, "ab");
  server_.SendExited("p", 2, 0);
  server_.Answer("process/read", kClosedProcess);
  EXPECT_EQ(OutcomeOf(Begin(FollowToTheEnd(std::move(client), std::move(process)))), "closed");
}

TEST_F(EndingTest, ATaskEndsWhenAnEventCannotBeReadLater) {
  auto client = Connect();
  auto process = Start(client, {.backlog = {.max_bytes = 2, .when_full = WhenFull::kReadLater}});
  server_.SendOutput("p", 1, "ab");
  server_.SendExited("p", 2, 0);
  server_.Refuse("process/read", -32600, "unknown process id p");
  EXPECT_EQ(OutcomeOf(Begin(FollowToTheEnd(std::move(client), std::move(process)))), "failed: unknown process id p");
}

TEST_F(EndingTest, ATaskEndsAtAPieceOfAnHttpBody) {
  const auto task = BeginToTakeAPiece();
  server_.Send(fmt::format(
      R"({{"method":"http/request/bodyDelta","params":{{"requestId":"{}","seq":1,"deltaBase64":"aGk=","done":false}}}})",
      request_id_));
  EXPECT_EQ(OutcomeOf(task), "hi");
}

TEST_F(EndingTest, ATaskThatAwaitsAnHttpBodyEndsWithTheConnection) {
  const auto task = BeginToTakeAPiece();
  server_.Cut();
  EXPECT_EQ(OutcomeOf(task), "the connection has ended");
}

}  // namespace
}  // namespace holdfast::client
