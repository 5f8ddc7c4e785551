// Tests of the handshake, of sessions that outlive their connection, and of requests that do not wait for one another.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <string>
#include <vector>

#include "support/eventually.h"
#include "support/proc.h"
#include "support/rpc_client.h"
#include "support/server_process.h"

namespace holdfast::support {
namespace {

using namespace std::chrono_literals;
using ::testing::MatchesRegex;

// Resumes the session. The server notices a disconnect only after a while, so the request is repeated until the session
// is free.
RpcClient ResumeWhenFree(const std::string& url, const std::string& session_id) {
  for (;;) {
    RpcClient client(OpenChannel(url));
    const Message answer = client.Initialize(R"("resumeSessionId":)" + Quoted(session_id));
    if (answer.error_code() == -32010) continue;
    EXPECT_TRUE(answer.Has("result")) << answer;
    client.Notify("initialized");
    return client;
  }
}

int64_t ResumeError(const std::string& url, const std::string& session_id) {
  RpcClient client(OpenChannel(url));
  return client.Initialize(R"("resumeSessionId":)" + Quoted(session_id)).error_code();
}

// Returns the pid that a process wrote as its first line.
pid_t PidLine(RpcClient& client, std::string_view process_id) {
  return std::stoi(client.WaitForOutput(process_id, "\n"));
}

TEST(SessionTest, NamesSessionsByRandomUuids) {
  ServerProcess server = ServerProcess::Start();
  RpcClient first = RpcClient::Ready(server.url()), second = RpcClient::Ready(server.url());
  EXPECT_THAT(first.session_id(), MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
  EXPECT_NE(first.session_id(), second.session_id());
}

TEST(SessionTest, KeepsProcessIdsApart) {
  ServerProcess server = ServerProcess::Start();
  RpcClient first = RpcClient::Ready(server.url()), second = RpcClient::Ready(server.url());
  first.Start(Shell("p", "echo first"));
  second.Start(Shell("p", "echo second"));
  EXPECT_EQ(first.WaitForClosed("p"), "first\n");
  EXPECT_EQ(second.WaitForClosed("p"), "second\n");
}

TEST(SessionTest, ResumesWithTheOutputThatWasMissed) {
  ServerProcess server = ServerProcess::Start();
  TempDir dir;
  RpcClient first = RpcClient::Ready(server.url());
  const std::string go = dir.Path("go");
  first.Start(Shell("p",
                    "echo one; while [ ! -e " + go + " ]; do sleep 0.01; done; echo two; touch " + go +
                        ".done; read line; echo $line; exit 5",
                    Stdin::kPipe));
  first.WaitForOutput("p", "one\n");
  first.Disconnect();
  ResumeWhenFree(server.url(), first.session_id()).Disconnect();  // by then nobody is attached
  const OwnedFd created(::open(go.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  ASSERT_TRUE(Eventually([&] { return ::access((go + ".done").c_str(), F_OK) == 0; }));

  RpcClient second = ResumeWhenFree(server.url(), first.session_id());
  const Message missed = second.Call("process/read", IdParams("p", R"("afterSeq":1)"));
  ASSERT_EQ(missed.Size("result.chunks"), 1u) << missed;
  EXPECT_EQ(missed.Number("result.chunks.0.seq"), 2);
  EXPECT_EQ(missed.Bytes("result.chunks.0.chunk"), "two\n");
  EXPECT_EQ(missed.Number("result.nextSeq"), 3);
  second.Write("p", "three\n");
  EXPECT_EQ(second.WaitForClosed("p"), "three\n");
  EXPECT_EQ(second.WaitForExit("p"), 5);
}

TEST(SessionTest, TellsOfAProcessThatEndedWhileNobodyWasThere) {
  ServerProcess server = ServerProcess::Start();
  RpcClient first = RpcClient::Ready(server.url());
  first.Start(Shell("p", "echo $$; read line; echo late; exit 3", Stdin::kPipe));
  const pid_t pid = PidLine(first, "p");
  first.Send("process/write", WriteParams("p", "\n"));
  first.Disconnect();
  ASSERT_TRUE(Eventually([&] { return !IsAlive(pid); }));
  RpcClient second = ResumeWhenFree(server.url(), first.session_id());
  const Message read = second.Call("process/read", IdParams("p", R"("afterSeq":1,"waitMs":10000)"));
  EXPECT_EQ(read.Bytes("result.chunks.0.chunk"), "late\n");
  const Message wait = second.Call("process/wait", IdParams("p"));
  EXPECT_EQ(wait.Number("result.exitCode"), 3);
}

TEST(SessionTest, BelongsToOneConnectionAtATime) {
  ServerProcess server = ServerProcess::Start();
  RpcClient owner = RpcClient::Ready(server.url());
  auto error = std::async(std::launch::async, ResumeError, server.url(), owner.session_id());
  do {  // the owner is asked whether it is there, and answers while it reads
    EXPECT_TRUE(owner.Call("process/list").Has("result")) << "the owner was evicted";
  } while (error.wait_for(0s) != std::future_status::ready);
  EXPECT_EQ(error.get(), -32010);
  EXPECT_TRUE(owner.Call("process/list").Has("result")) << "the owner was evicted";
}

// A client comes back while the server still has its old connection, which has broken without a word.
TEST(SessionTest, IsTakenFromAConnectionThatIsSilent) {
  ServerProcess server = ServerProcess::Start();
  RpcClient silent = RpcClient::Ready(server.url());  // it reads nothing, and so answers nothing
  RpcClient second(OpenChannel(server.url()));
  EXPECT_TRUE(second.Initialize(R"("resumeSessionId":)" + Quoted(silent.session_id())).Has("result"));
}

TEST(SessionTest, IsUnknownUnderAnyOtherId) {
  ServerProcess server = ServerProcess::Start();
  EXPECT_EQ(ResumeError(server.url(), "00000000-0000-4000-8000-000000000000"), -32600);
  EXPECT_EQ(ResumeError(server.url(), ""), -32600);
}

TEST(SessionTest, ExpiresAndKillsItsProcesses) {
  ServerProcess server = ServerProcess::Start({"--detached-ttl-ms", "3000"});
  RpcClient client = RpcClient::Ready(server.url());
  client.Start(Shell("p", "trap '' TERM HUP; setsid sh -c 'sleep 1000' & echo $$; sleep 1000"));
  const pid_t pid = PidLine(client, "p");
  client.Disconnect();
  EXPECT_TRUE(IsAlive(pid)) << "killed before its time";
  EXPECT_TRUE(Eventually([] { return LivingWithVariable(RunMarker()).empty(); }));
  EXPECT_EQ(ResumeError(server.url(), client.session_id()), -32600);
}

TEST(SessionTest, ResumedInTimeDoesNotExpire) {
  ServerProcess server = ServerProcess::Start({"--detached-ttl-ms", "3000"});
  RpcClient first = RpcClient::Ready(server.url());
  first.Start({.id = "cat", .argv = {"cat"}, .pipe_stdin = true});
  first.Disconnect();
  RpcClient second = ResumeWhenFree(server.url(), first.session_id());
  // The session of another client is not resumed. When it has expired, enough time has passed.
  RpcClient other = RpcClient::Ready(server.url());
  other.Start(Shell("p", "echo $$; exec sleep 1000"));
  const pid_t pid = PidLine(other, "p");
  other.Disconnect();
  ASSERT_TRUE(Eventually([&] { return !IsAlive(pid); }));
  second.Write("cat", "still here\n");
  EXPECT_EQ(second.WaitForOutput("cat", "\n"), "still here\n");
}

TEST(SessionTest, EndsWithItsConnectionInStrictMode) {
  ServerProcess server = ServerProcess::Start({"--detached-ttl-ms", "0"});
  RpcClient client = RpcClient::Ready(server.url());
  client.Start(Shell("p", "trap '' TERM HUP; echo ready; sleep 1000"));
  client.WaitForOutput("p", "ready");
  client.Disconnect();
  EXPECT_TRUE(Eventually([] { return LivingWithVariable(RunMarker()).empty(); }));
  EXPECT_EQ(ResumeError(server.url(), client.session_id()), -32600);
}

TEST(SessionTest, IsRefusedAboveTheLimit) {
  ServerProcess server = ServerProcess::Start({"--max-sessions", "1"});
  RpcClient first = RpcClient::Ready(server.url());
  RpcClient second(OpenChannel(server.url()));
  EXPECT_EQ(second.Initialize().error_code(), -32600);
}

TEST(SessionTest, AWaitingRequestDoesNotHoldUpTheNext) {
  ServerProcess server = ServerProcess::Start();
  RpcClient client = RpcClient::Ready(server.url());
  client.Start({.id = "cat", .argv = {"cat"}, .pipe_stdin = true});
  const int64_t read = client.Send("process/read", IdParams("cat", R"("waitMs":600000)"));
  const int64_t wait = client.Send("process/wait", IdParams("cat"));
  EXPECT_TRUE(client.Call("process/list").Has("result"));
  client.Start(Shell("other", "echo other"));
  EXPECT_EQ(client.WaitForClosed("other"), "other\n");
  EXPECT_FALSE(client.HasAnswer(read));
  EXPECT_FALSE(client.HasAnswer(wait));
  EXPECT_TRUE(client.Call("process/terminate", IdParams("cat")).Flag("result.running"));
  EXPECT_TRUE(client.Await(wait).Flag("result.exited"));
  EXPECT_TRUE(client.Await(read).Has("result"));
}

TEST(SessionTest, AWaitingRequestDoesNotHoldUpAResume) {
  ServerProcess server = ServerProcess::Start();
  RpcClient first = RpcClient::Ready(server.url());
  first.Start({.id = "cat", .argv = {"cat"}, .pipe_stdin = true});
  first.Send("process/wait", IdParams("cat"));
  first.Disconnect();
  RpcClient second = ResumeWhenFree(server.url(), first.session_id());
  second.CloseStdin("cat");
  EXPECT_EQ(second.WaitForExit("cat"), 0);
}

TEST(SessionTest, TakesRequestsBeforeTheOnesBeforeAreAnswered) {
  ServerProcess server = ServerProcess::Start();
  RpcClient client = RpcClient::Ready(server.url());
  std::vector<int64_t> ids;
  ids.push_back(client.Send("process/start", Shell("p", "cat; echo end", Stdin::kPipe).Params()));
  for (const char* line : {"one\n", "two\n", "three\n"}) {
    ids.push_back(client.Send("process/write", WriteParams("p", line)));
  }
  ids.push_back(client.Send("process/closeStdin", IdParams("p")));
  ids.push_back(client.Send("process/wait", IdParams("p")));
  for (const int64_t id : ids) EXPECT_TRUE(client.Await(id).Has("result")) << id;
  EXPECT_EQ(client.WaitForClosed("p"), "one\ntwo\nthree\nend\n");
}

TEST(SessionTest, RequestsForAStartThatFailsFindNoProcess) {
  ServerProcess server = ServerProcess::Start();
  RpcClient client = RpcClient::Ready(server.url());
  const int64_t start = client.Send("process/start", StartRequest{.id = "p", .argv = {"/no/such"}}.Params());
  const int64_t write = client.Send("process/write", WriteParams("p", "x"));
  const int64_t wait = client.Send("process/wait", IdParams("p"));
  EXPECT_EQ(client.Await(start).error_code(), -32603);
  EXPECT_EQ(client.Await(write).Text("result.status"), "unknownProcess");
  EXPECT_EQ(client.Await(wait).error_code(), -32600);
}

TEST(SessionTest, ReadsNoFurtherWhileTooManyRequestsAreUnanswered) {
  ServerProcess server = ServerProcess::Start({"--max-inflight", "2"});
  RpcClient client = RpcClient::Ready(server.url());
  client.Start({.id = "cat", .argv = {"cat"}, .pipe_stdin = true});
  const int64_t first = client.Send("process/wait", IdParams("cat", R"("timeoutMs":300)"));
  const int64_t second = client.Send("process/wait", IdParams("cat"));
  const int64_t third = client.Send("process/list");
  const Message answer = client.Await(first);
  EXPECT_TRUE(answer.Flag("result.timedOut"));
  EXPECT_FALSE(client.HasAnswer(third)) << "served although two requests were waiting";
  EXPECT_TRUE(client.Await(third).Has("result"));
  client.Call("process/terminate", IdParams("cat"));
  EXPECT_TRUE(client.Await(second).Flag("result.exited"));
}

}  // namespace
}  // namespace holdfast::support
