// Tests of a client that vanishes while the server does not read its socket, because as many of its requests wait as it
// may have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/eventually.h"
#include "support/proc.h"
#include "support/rpc_client.h"
#include "support/server_process.h"

namespace holdfast::support {
namespace {

using ::testing::HasSubstr;

// Starts a process that would run for ever, uses up all four requests with waits for it, and sends one more request,
// which stays unread. Returns the pid of the process.
pid_t StartAndWaitForIt(RpcClient& client) {
  client.Start(Shell("p", "trap '' TERM HUP; echo $$; while :; do sleep 1000; done"));
  const pid_t pid = std::stoi(client.WaitForOutput("p", "\n"));
  for (int i = 0; i < 4; ++i) client.Send("process/wait", IdParams("p"));
  client.Send("process/list");
  EXPECT_TRUE(IsAlive(pid));
  return pid;
}

TEST(HangUpTest, LeavesTheSessionToWhoeverResumesIt) {
  ServerProcess server = ServerProcess::Start({"--max-inflight", "4"});
  RpcClient first = RpcClient::Ready(server.url());
  const pid_t pid = StartAndWaitForIt(first);
  first.Disconnect();
  const auto resume = [&] {
    RpcClient second(OpenChannel(server.url()));
    const int64_t code = second.Initialize(R"("resumeSessionId":)" + Quoted(first.session_id())).error_code();
    EXPECT_TRUE(code == 0 || code == -32010) << code;
    return code == 0;
  };
  EXPECT_TRUE(Eventually(resume));
  EXPECT_TRUE(IsAlive(pid));
}

TEST(HangUpTest, EndsTheSessionInStrictMode) {
  ServerProcess server = ServerProcess::Start({"--max-inflight", "4", "--detached-ttl-ms", "0"});
  RpcClient client = RpcClient::Ready(server.url());
  StartAndWaitForIt(client);
  client.Disconnect();
  EXPECT_TRUE(Eventually([] { return LivingWithVariable(RunMarker()).empty(); }));
}

TEST(HangUpTest, EndsTheSessionOfAPeerOnLines) {
  TempDir dir;
  ServerProcess server = ServerProcess::Start(
      {"--max-inflight", "4", "--detached-ttl-ms", "0", "--listen", "unix://" + dir.Path("socket")});
  RpcClient client(OpenChannel(server.url()));
  client.Handshake();
  StartAndWaitForIt(client);
  client.Disconnect();
  EXPECT_TRUE(Eventually([] { return LivingWithVariable(RunMarker()).empty(); }));
}

TEST(HangUpTest, EndsAServerOnStdio) {
  ServerProcess server = ServerProcess::StartOnStdio({"--max-inflight", "4"});
  RpcClient client(OpenPipes(server.input(), server.output()));
  client.Handshake();
  StartAndWaitForIt(client);
  server.CloseInput();
  EXPECT_EQ(server.WaitForExit(), 0) << server.Stderr();
  EXPECT_TRUE(LivingWithVariable(RunMarker()).empty());
}

// The waits last longer than the server needs to notice a hang-up.
TEST(HangUpTest, AnswersAPeerOnLinesThatOnlyStoppedSending) {
  TempDir dir;
  ServerProcess server = ServerProcess::Start({"--max-inflight", "2", "--listen", "unix://" + dir.Path("socket")});
  TestSocket socket = TestSocket::Connect(server.url());
  socket.Send(R"({"id":1,"method":"initialize","params":{"clientName":"half"}})"
              "\n"
              R"({"method":"initialized"})"
              "\n");
  socket.Send(R"({"id":2,"method":"process/start","params":)" + Shell("p", "sleep 1000").Params() + "}\n");
  for (const char* id : {"3", "4"}) {
    socket.Send(R"({"id":)" + std::string(id) +
                R"(,"method":"process/wait","params":{"processId":"p","timeoutMs":2500}})"
                "\n");
  }
  socket.CloseWrite();
  EXPECT_THAT(socket.ReceiveAll().value_or("no end"), HasSubstr(R"("timedOut":true)"));
}

}  // namespace
}  // namespace holdfast::support
