// Tests of sandboxDenied, which tells whether a command probably failed because of its sandbox and is decided before
// the exit is published, and of sandboxed processes of sessions that lose their connection.
#include <csignal>
#include <filesystem>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/sandboxed_fixture.h"
#include "support/eventually.h"
#include "support/proc.h"
#include "support/required_program.h"

namespace holdfast::support {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class SandboxedDenialTest : public SandboxedFixture {
 protected:
  bool IsDenied(const std::string& id, const std::string& script) { return Run(Inside(id, script)).denied; }
  std::string Forbidden() const { return "echo x > " + Elsewhere("made"); }
};

TEST_F(SandboxedDenialTest, IsToldEverywhere) {
  client_.Start(Inside("p", Forbidden()));
  EXPECT_TRUE(client_.Call("process/wait", IdParams("p", R"("timeoutMs":60000)")).Flag("result.sandboxDenied"));
  EXPECT_TRUE(client_.WaitForNotification("process/exited", "p").Flag("params.sandboxDenied"));
  EXPECT_TRUE(client_.Call("process/read", IdParams("p")).Flag("result.sandboxDenied"));
}

// A client that waits for the exit gets sandboxDenied together with it.
TEST_F(SandboxedDenialTest, IsDecidedBeforeTheExitIsKnown) {
  StartRequest request = Inside("p", "read -r line; " + Forbidden());
  request.pipe_stdin = true;
  client_.Start(request);
  const int64_t wait = client_.Send("process/wait", IdParams("p", R"("timeoutMs":60000)"));
  EXPECT_FALSE(client_.Call("process/read", IdParams("p")).Flag("result.sandboxDenied"));
  client_.Write("p", "go\n");
  const Message answer = client_.Await(wait);
  EXPECT_TRUE(answer.Flag("result.exited"));
  EXPECT_TRUE(answer.Flag("result.sandboxDenied"));
}

TEST_F(SandboxedDenialTest, IsNoPlainFailure) {
  EXPECT_FALSE(IsDenied("code", "echo wrong; exit 3"));
  EXPECT_FALSE(IsDenied("missing", "cat no-such-file"));
  EXPECT_FALSE(IsDenied("not found", "no-such-command"));
  EXPECT_FALSE(IsDenied("killed", "kill -9 $$"));
}

TEST_F(SandboxedDenialTest, GoesByTheWordsUnlessAllIsWell) {
  EXPECT_TRUE(IsDenied("words", "echo 'Operation not permitted' >&2; exit 1"));
  EXPECT_TRUE(IsDenied("126", "echo 'PERMISSION DENIED'; exit 126"));
  EXPECT_FALSE(IsDenied("success", "echo 'permission denied'; exit 0"));
  EXPECT_FALSE(IsDenied("success after a denial", Forbidden() + "; exit 0"));
}

TEST_F(SandboxedDenialTest, HearsATerminal) {
  StartRequest request = Inside("p", Forbidden());
  request.tty = true;
  EXPECT_TRUE(Run(request).denied);
}

TEST_F(SandboxedDenialTest, NeedsASandbox) {
  EXPECT_FALSE(Run(Shell("none", "echo 'permission denied: sandbox' >&2; exit 1")).denied);
  const StartRequest disabled =
      InSandbox(Shell("disabled", "echo 'permission denied'; exit 1"), R"({"type":"disabled"})");
  EXPECT_FALSE(Run(disabled).denied);
}

// The filter kills a process that makes a call by another ABI.
TEST_F(SandboxedDenialTest, KnowsAFilteredCall) {
  if (!RequireProgram("perl")) return;
  const Ended ended = Run(Inside("p", "exec perl -e 'syscall(0x40000000 | 39); exit 5'"));
  EXPECT_EQ(ended.exit_code, 128 + SIGSYS);
  EXPECT_TRUE(ended.denied);
  const Ended outside = Run(Shell("outside", "exec perl -e 'syscall(0x40000000 | 39); exit 5'"));
  EXPECT_EQ(outside.exit_code, 5);
}

// A retry without a sandbox, which a user has approved, can do what the sandbox denied.
TEST_F(SandboxedDenialTest, IsGoneInARetryWithoutASandbox) {
  EXPECT_TRUE(IsDenied("first", Forbidden()));
  EXPECT_EQ(Run(Shell("retry", Forbidden())).exit_code, 0);
  EXPECT_EQ(Contents(Elsewhere("made")), "x\n");
}

class SandboxedSessionTest : public SandboxedFixture {
 protected:
  static bool NothingIsAlive() { return LivingWithVariable(RunMarker()).empty(); }

  // The server notices a disconnect only after a while, so the session is resumed again and again until it is free.
  static RpcClient Resume(const ServerProcess& server, const std::string& session) {
    for (;;) {
      RpcClient client(OpenChannel(server.url()));
      const Message answer = client.Initialize(R"("resumeSessionId":)" + Quoted(session));
      if (answer.error_code() == -32010) continue;
      EXPECT_TRUE(answer.Has("result")) << answer;
      client.Notify("initialized");
      return client;
    }
  }

  // Returns a client with a running command, whose sandbox has a placeholder for the missing .git of the workspace.
  RpcClient ClientWithACommand(const ServerProcess& server) {
    RpcClient client = RpcClient::Ready(server.url());
    client.Start(Inside("p", "setsid sleep 1000 & echo ready; sleep 1000"));
    client.WaitForOutput("p", "ready\n");
    EXPECT_THAT(NamesIn(workspace_.path()), Not(IsEmpty()));
    return client;
  }
  void ExpectNothingLeft() {
    EXPECT_TRUE(Eventually(NothingIsAlive)) << testing::PrintToString(LivingWithVariable(RunMarker()));
    EXPECT_TRUE(Eventually([&] { return NamesIn(workspace_.path()).empty(); }))
        << testing::PrintToString(NamesIn(workspace_.path()));
    EXPECT_THAT(Mounts(), Not(HasSubstr(workspace_.path())));
  }
};

TEST_F(SandboxedSessionTest, TheCommandSurvivesADisconnect) {
  StartRequest request =
      Inside("p", "echo before; read -r line; echo \"got $line\"; echo x > " + Elsewhere("made") + " || exit 3");
  request.pipe_stdin = true;
  client_.Start(request);
  client_.WaitForOutput("p", "before\n");
  client_.Disconnect();
  RpcClient again = Resume(server_, client_.session_id());
  again.Write("p", "it\n");
  const Message exited = again.WaitForNotification("process/exited", "p");
  EXPECT_EQ(exited.Number("params.exitCode"), 3);
  EXPECT_TRUE(exited.Flag("params.sandboxDenied"));
}

TEST_F(SandboxedSessionTest, ADenialIsKeptForAClientThatWasAway) {
  StartRequest request =
      Inside("p", "until [ -e go ]; do sleep 0.01; done; echo x > " + Elsewhere("made") + "; s=$?; : > done; exit $s");
  client_.Start(request);
  client_.Disconnect();
  workspace_.Write("go", "");
  ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(In("done")); }));
  RpcClient again = Resume(server_, client_.session_id());
  EXPECT_TRUE(again.Call("process/wait", IdParams("p", R"("timeoutMs":60000)")).Flag("result.sandboxDenied"));
  EXPECT_TRUE(again.Call("process/read", IdParams("p")).Flag("result.sandboxDenied"));
}

TEST_F(SandboxedSessionTest, TheEndOfASessionLeavesNothing) {
  for (const char* ttl_ms : {"0", "200"}) {
    ServerProcess server = ServerProcess::Start({"--detached-ttl-ms", ttl_ms});
    ClientWithACommand(server).Disconnect();
    ExpectNothingLeft();
  }
}

TEST_F(SandboxedSessionTest, AStartThatIsUnderWayEndsWithItsSession) {
  ServerProcess server = ServerProcess::Start({"--detached-ttl-ms", "0"});
  for (int round = 0; round < 10; ++round) {
    RpcClient client = RpcClient::Ready(server.url());
    client.Send("process/start", Inside("p", "sleep 1000").Params());
    client.Disconnect();
  }
  ExpectNothingLeft();
}

TEST_F(SandboxedSessionTest, TheEndOfTheServerLeavesNothing) {
  ServerProcess stopped = ServerProcess::Start();
  const RpcClient first = ClientWithACommand(stopped);
  stopped.Stop();
  ExpectNothingLeft();
  ServerProcess killed = ServerProcess::Start();
  const RpcClient second = ClientWithACommand(killed);
  killed.Kill();
  ExpectNothingLeft();
}

}  // namespace
}  // namespace holdfast::support
