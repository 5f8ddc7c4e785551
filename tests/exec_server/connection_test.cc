#include "exec_server/connection.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

#include "exec_server/server_fixture.h"
#include "support/eventually.h"
#include "support/scratch_dir.h"

namespace holdfast::exec_server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ConnectionTest : public ServerFixture {
 protected:
  // Delivers one message, and returns what the connection sends at once.
  std::string Say(Client& client, std::string_view message) {
    client.Forget();
    client.Deliver(message);
    if (client.sent().empty()) return "";
    EXPECT_EQ(client.sent().size(), 1u);
    return client.sent()[0];
  }

  int64_t CodeOf(Client& client, std::string_view message) { return Message(Say(client, message)).error_code(); }
};

constexpr char kInitialize[] = R"({"id":1,"method":"initialize","params":{"clientName":"t"}})";
constexpr char kList[] = R"({"id":2,"method":"process/list"})";
constexpr char kListed[] = R"({"id":2,"result":{"processes":[])";

TEST_F(ConnectionTest, AnswersInitializeWithASessionAndItsSurroundings) {
  Client& client = Connect();
  const Message answer(Say(client, kInitialize));
  EXPECT_EQ(answer.Number("id"), 1);
  EXPECT_EQ(answer.Text("result.sessionId").size(), 36u);
  EXPECT_THAT(answer.Text("result.environmentInfo.shell.path"), StartsWith("/"));
  EXPECT_THAT(answer.Text("result.environmentInfo.cwd"), StartsWith("file:///"));
  EXPECT_EQ(answer.Text("result.environmentInfo.platformOs"), "linux");
}

TEST_F(ConnectionTest, NeedsTheWholeHandshake) {
  Client& client = Connect();
  EXPECT_THAT(Say(client, kList), HasSubstr("process/list needs initialize first"));
  EXPECT_EQ(CodeOf(client, kList), -32600);
  Say(client, kInitialize);
  EXPECT_THAT(Say(client, kList), HasSubstr("process/list needs initialized first"));
  EXPECT_EQ(Say(client, R"({"method":"initialized"})"), "");
  EXPECT_THAT(Say(client, kList), StartsWith(kListed));
}

// The helper is copied while the client does its handshake. A client that could change the file before the end of the
// copy would decide what runs outside of its sandbox.
TEST_F(ConnectionTest, WaitsForTheCopyOfTheHelperBeforeTheFirstRequest) {
  constexpr off_t kBytes = 64 << 20;
  const support::ScratchDir dir;
  paths_.sandbox_helper = dir.Write("helper", "");
  const OwnedFd file(::open(paths_.sandbox_helper.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::ftruncate(file.get(), kBytes), 0);
  ASSERT_EQ(::pwrite(file.get(), "z", 1, kBytes - 1), 1);
  Boot();
  ConnectReady();
  ASSERT_EQ(::pwrite(file.get(), "x", 1, kBytes - 1), 1);
  const auto wrapped = parts_->sandbox_program.Wrap({.program = "/bin/true", .cwd = "/"}, {});
  ASSERT_TRUE(wrapped) << wrapped.error().message;
  char last = 0;
  EXPECT_EQ(::pread(wrapped->wrapper->fds.at(2)->get(), &last, 1, kBytes - 1), 1);  // behind the profile and the report
  EXPECT_EQ(last, 'z');
}

TEST_F(ConnectionTest, RefusesASecondInitialize) {
  Client& client = ConnectReady();
  EXPECT_EQ(CodeOf(client, kInitialize), -32600);
  EXPECT_THAT(Say(client, kList), StartsWith(kListed));
}

TEST_F(ConnectionTest, LetsAFailedInitializeBeRetried) {
  Client& client = Connect();
  EXPECT_EQ(CodeOf(client, R"({"id":1,"method":"initialize","params":{}})"), -32602);
  EXPECT_EQ(CodeOf(client, R"({"id":1,"method":"initialize","params":{"clientName":"t","resumeSessionId":"nope"}})"),
            -32600);
  EXPECT_EQ(CodeOf(client, kInitialize), 0);
}

TEST_F(ConnectionTest, RefusesInitializedBeforeInitialize) {
  Client& client = Connect();
  const Message answer(Say(client, R"({"method":"initialized"})"));
  EXPECT_EQ(answer.Number("id"), -1);
  EXPECT_EQ(answer.error_code(), -32600);
  EXPECT_EQ(CodeOf(client, kInitialize), 0);
}

TEST_F(ConnectionTest, TakesInitializedTwice) {
  Client& client = ConnectReady();
  EXPECT_EQ(Say(client, R"({"method":"initialized","params":{}})"), "");
}

TEST_F(ConnectionTest, DecodesParamsBeforeItChecksTheHandshake) {
  Client& client = Connect();
  EXPECT_EQ(CodeOf(client, R"({"id":1,"method":"process/read","params":{}})"), -32602);
  EXPECT_EQ(CodeOf(client, R"({"id":1,"method":"process/read","params":{"processId":"p"}})"), -32600);
}

TEST_F(ConnectionTest, NamesAnUnknownMethodAlsoBeforeTheHandshake) {
  Client& client = Connect();
  EXPECT_EQ(Say(client, R"({"id":1,"method":"no/such"})"),
            R"({"error":{"code":-32601,"message":"unknown method no/such"},"id":1})");
}

TEST_F(ConnectionTest, EchoesIdsWithTypeAndValue) {
  Client& client = ConnectReady();
  for (const char* id : {R"("text")", R"("")", R"("1")", "0", "-1", "9223372036854775807", "-9223372036854775808",
                         R"("with \"quotes\" and \n")"}) {
    EXPECT_THAT(Say(client, fmt::format(R"({{"id":{},"method":"process/list"}})", id)),
                StartsWith(fmt::format(R"({{"id":{},"result":)", id)));
  }
}

TEST_F(ConnectionTest, RefusesIdsOfOtherTypes) {
  Client& client = ConnectReady();
  for (const char* id : {"null", "1.5", "1.0", "true", "[]", "{}", "9223372036854775808"}) {
    const Message answer(Say(client, fmt::format(R"({{"id":{},"method":"process/list"}})", id)));
    EXPECT_EQ(answer.Number("id"), -1) << id;
    EXPECT_EQ(answer.error_code(), -32600) << id;
  }
}

TEST_F(ConnectionTest, RefusesWhatIsNoRequestAndGoesOn) {
  Client& client = ConnectReady();
  for (const char* text :
       {"", "{", "nonsense", "{}", "[]", "5", R"("text")", R"([{"id":1,"method":"process/list"}])",
        R"({"id":1,"method":5})", R"({"id":1,"result":{}})", R"({"id":1,"error":{"code":1,"message":""}})",
        R"({"id":1,"id":2,"method":"process/list"})", "{\"method\":\"\xff\"}",
        R"({"id":1,"method":"process/list","params":{"a":{"b":1,"b":2}}})"}) {
    const Message answer(Say(client, text));
    EXPECT_EQ(answer.Number("id"), -1) << text;
    EXPECT_EQ(answer.error_code(), -32600) << text;
  }
  EXPECT_THAT(Say(client, kList), StartsWith(kListed));
}

TEST_F(ConnectionTest, ExpectsNoAnswers) {
  Client& client = ConnectReady();
  for (const char* text : {"{}", R"({"id":1})", R"({"id":1,"result":{}})", R"({"id":null,"error":{}})"}) {
    EXPECT_EQ(Say(client, text),
              R"({"error":{"code":-32600,"message":"a message without method: it answers no request of this server"},)"
              R"("id":-1})");
  }
}

TEST_F(ConnectionTest, AnswersAnUnknownNotificationAndGoesOn) {
  Client& client = ConnectReady();
  const Message answer(Say(client, R"({"method":"no/such","params":{}})"));
  EXPECT_EQ(answer.Number("id"), -1);
  EXPECT_EQ(answer.error_code(), -32600);
  EXPECT_THAT(Say(client, kList), StartsWith(kListed));
}

TEST_F(ConnectionTest, IgnoresMembersItDoesNotKnow) {
  Client& client = ConnectReady();
  EXPECT_THAT(
      Say(client, R"({"jsonrpc":"2.0","trace":{"traceparent":"x"},"id":2,"method":"process/list","params":null})"),
      StartsWith(kListed));
}

TEST_F(ConnectionTest, StopsReadingAtTheInflightLimitAndGoesOnBelowIt) {
  config_.max_inflight = 3;
  Client& client = ConnectReady();
  Start(client, "p", "read line", R"(,"pipeStdin":true)");
  for (int i = 0; i < 2; ++i) client.Ask("process/wait", Named("p"));
  EXPECT_EQ(client.transport->reading, rpc::Reading::kOn);
  client.Ask("process/wait", R"({"processId":"p","timeoutMs":20})");
  EXPECT_EQ(client.transport->reading, rpc::Reading::kOff);
  EXPECT_TRUE(RunUntil([&] { return client.transport->reading == rpc::Reading::kOn; }));
}

TEST_F(ConnectionTest, StopsReadingWhenTheBytesInFlightAreTooMany) {
  config_.max_message_bytes = 300;
  Client& client = ConnectReady();
  Start(client, "p", "sleep 0.2");
  const int wait = client.Ask("process/wait", fmt::format(R"({{"processId":"p","pad":"{}"}})", std::string(300, 'x')));
  EXPECT_EQ(client.transport->reading, rpc::Reading::kOff);
  ASSERT_TRUE(RunUntil([&] { return client.AnswerTo(wait).has_value(); }));
  EXPECT_EQ(client.transport->reading, rpc::Reading::kOn);
}

TEST_F(ConnectionTest, DoesNotReadAClientThatDoesNotRead) {
  Client& client = ConnectReady();
  client.transport->is_congested = true;
  Say(client, kList);
  EXPECT_EQ(client.transport->reading, rpc::Reading::kOff);
  client.transport->Drain();
  EXPECT_EQ(client.transport->reading, rpc::Reading::kOn);
}

TEST_F(ConnectionTest, PausesOutputWhileTheClientDoesNotRead) {
  support::ScratchDir dir;
  const std::string flag = dir.path() + "/written";
  Client& client = ConnectReady();
  Start(client, "p", "echo one; read line; echo two; : >" + flag + "; sleep 1000", R"(,"pipeStdin":true)");
  ASSERT_TRUE(RunUntil([&] { return client.Got("process/output"); }));
  client.transport->is_congested = true;
  Call(client, "process/closeStdin", Named("p"));
  ASSERT_TRUE(support::Eventually([&] { return std::filesystem::exists(flag); }));
  support::RunReady(loop_);  // the loop sees that there is output, and must not read it
  EXPECT_EQ(client.Notifications("process/output").size(), 1u);
  client.transport->Drain();
  ASSERT_TRUE(RunUntil([&] { return client.Notifications("process/output").size() == 2; }));
  EXPECT_EQ(client.Notifications("process/output").at(1).Bytes("params.chunk"), "two\n");
}

TEST_F(ConnectionTest, GoesOnWithOutputWhenACongestedClientLeaves) {
  Client& client = ConnectReady();
  const std::string session = Message(client.sent()[0]).Text("result.sessionId");
  client.transport->is_congested = true;
  Start(client, "p", "head -c 500000 /dev/zero");
  client.transport->Disconnect();
  auto resumed = sessions_->Resume(session);
  ASSERT_TRUE(resumed);
  ASSERT_TRUE(RunUntil([&] { return (*resumed)->processes().Find("p")->process().closed(); }));
  EXPECT_EQ((*resumed)->processes().Find("p")->process().output_bytes(), 500'000u);
}

TEST_F(ConnectionTest, SendsNothingAfterTheEnd) {
  Client& client = ConnectReady();
  const std::string session = Message(client.sent()[0]).Text("result.sessionId");
  Start(client, "p", "read line; echo late", R"(,"pipeStdin":true)");
  client.Ask("process/wait", Named("p"));
  const size_t sent = client.sent().size();
  client.transport->Disconnect();
  auto process = sessions_->Resume(session).value()->processes().Find("p");
  process->process().input()->CloseAfterQueued();
  ASSERT_TRUE(RunUntil([&] { return process->process().closed(); }));
  EXPECT_EQ(client.sent().size(), sent);
}

TEST_F(ConnectionTest, CountsAnswersThatTheClientDoesNotTake) {
  Client& client = ConnectReady();
  Say(client, kList);
  EXPECT_EQ(parts_->held->held(), 0u);
  client.transport->is_congested = true;
  const size_t answer = Say(client, kList).size();
  EXPECT_EQ(parts_->held->held(), answer);
  client.transport->Drain();
  EXPECT_EQ(parts_->held->held(), 0u);
  client.transport->is_congested = true;
  Say(client, kList);
  client.transport->Disconnect();
  EXPECT_EQ(parts_->held->held(), 0u);
}

// The long requests are writes to a process that does not read its input.
TEST_F(ConnectionTest, CountsLongRequestsUntilTheyAreAnswered) {
  Client& client = ConnectReady();
  Start(client, "p", "sleep 1000", R"(,"pipeStdin":true)");
  const std::string chunk = support::Base64(std::string(2u << 20, 'x'));
  const int write = client.Ask("process/write", fmt::format(R"({{"processId":"p","chunk":"{}"}})", chunk));
  EXPECT_GE(parts_->held->held(), chunk.size());
  Call(client, "process/terminate", Named("p"));
  EXPECT_TRUE(RunUntil([&] { return client.AnswerTo(write).has_value(); }));
  EXPECT_EQ(parts_->held->held(), 0u);
}

TEST_F(ConnectionTest, CountsNoShortRequests) {
  Client& client = ConnectReady();
  Start(client, "p", "sleep 1000");
  for (int i = 0; i < 100; ++i) client.Ask("process/wait", Named("p"));
  EXPECT_EQ(parts_->held->held(), 0u);
}

// A client that does not read its answers, or whose requests never end, would otherwise keep all other clients from
// sending long requests.
TEST_F(ConnectionTest, EndsWhenWhatItHoldsIsNeededElsewhere) {
  using namespace std::chrono_literals;
  const auto unused = std::exchange(
      parts_->held, std::make_shared<loop::ByteBudget>(
                        loop_, loop::ByteBudget::Options{.bytes = 4u << 20, .tenure = 10ms, .tick = 5ms}));
  Client &reader = ConnectReady(), &writer = ConnectReady(), &bystander = ConnectReady();
  reader.transport->is_congested = true;
  Say(reader, kList);
  Start(writer, "p", "sleep 1000");
  writer.Ask("process/wait", fmt::format(R"({{"processId":"p","pad":"{}"}})", std::string(2u << 20, 'x')));
  auto other = parts_->held->Open();
  bool granted = false;
  other.Await(4u << 20, [&](const Result<>& room) { granted = room.has_value(); });
  EXPECT_TRUE(RunUntil([&] { return granted; }));
  EXPECT_FALSE(reader.transport->connected());
  EXPECT_FALSE(writer.transport->connected());
  EXPECT_TRUE(bystander.transport->connected());
}

TEST_F(ConnectionTest, RefusesAClientNameThatIsTooLong) {
  Client& client = Connect();
  const auto initialize = [&](size_t bytes) {
    return client.Ask("initialize", fmt::format(R"({{"clientName":"{}"}})", std::string(bytes, 'n')));
  };
  EXPECT_EQ(client.AnswerTo(initialize(257))->error_code(), -32602);
  EXPECT_EQ(client.AnswerTo(initialize(256))->error_code(), 0);
}

}  // namespace
}  // namespace holdfast::exec_server
