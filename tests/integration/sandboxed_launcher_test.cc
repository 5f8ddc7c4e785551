// Tests of the launchers of a server: the processes that stay for the next command.
#include <sys/types.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "integration/sandboxed_fixture.h"
#include "support/eventually.h"
#include "support/proc.h"
#include "support/required_program.h"

namespace holdfast::support {
namespace {

class SandboxedLauncherTest : public SandboxedFixture {
 protected:
  void SetUp() override {
    SandboxedFixture::SetUp();
    if (IsSkipped()) return;
    const bool has_launcher = LauncherOf("first") != 0;
    EXPECT_EQ(Finish("first"), 6);
    (void)RequireAvailable(has_launcher ? "" : "the native backend does not work here");
  }

  static pid_t ParentOf(pid_t pid) {
    const std::string status = ReadProcFile(pid, "status").value_or("");
    const size_t line = status.find("PPid:");
    return line != std::string::npos ? std::stoi(status.substr(line + 5)) : 0;
  }

  // Starts a command that waits for a line. Returns the launcher that has started it, which is the parent of pid 1 of
  // its sandbox and a child of a keeper. Returns 0 if it has no launcher: its helper is the child of a keeper.
  static pid_t LauncherOf(RpcClient& client, const ServerProcess& server, StartRequest request) {
    request.pipe_stdin = true;
    client.Start(request);
    const Message listed = client.Call("process/list");
    for (int i = 0;; ++i) {
      const std::string process = "result.processes." + std::to_string(i);
      if (!listed.Has(process)) return 0;
      if (listed.Text(process + ".processId") != request.id) continue;
      const pid_t parent = ParentOf(static_cast<pid_t>(listed.Number(process + ".pid")));
      return ParentOf(parent) == server.pid() ? 0 : parent;
    }
  }
  pid_t LauncherOf(const std::string& id) {
    return LauncherOf(client_, server_, Inside(id, "read -r line; echo $line; exit 6"));
  }
  int64_t Finish(const std::string& id) {
    client_.Write(id, "still here\n");
    return client_.WaitForNotification("process/exited", id).Number("params.exitCode");
  }
};

TEST_F(SandboxedLauncherTest, OneStaysForTheNextCommandOfItsPolicy) {
  const pid_t launcher = LauncherOf("second");
  EXPECT_EQ(LauncherOf("third"), launcher);
  EXPECT_EQ(Finish("third"), 6);
  const pid_t other = LauncherOf(client_, server_, InSandbox(Shell("fourth", "read -r line"), ReadOnly()));
  EXPECT_NE(other, 0);
  EXPECT_NE(other, launcher);
}

TEST_F(SandboxedLauncherTest, AnotherSessionHasItsOwn) {
  RpcClient other = RpcClient::Ready(server_.url());
  const pid_t launcher = LauncherOf(other, server_, Inside("p", "read -r line"));
  EXPECT_NE(launcher, 0);
  EXPECT_NE(launcher, LauncherOf("p"));
}

TEST_F(SandboxedLauncherTest, CommandsGoOnWhenItIsKilledAndTheNextOneBringsItBack) {
  const pid_t launcher = LauncherOf("long");
  ASSERT_EQ(::kill(launcher, SIGKILL), 0);
  ASSERT_TRUE(Eventually([&] { return !IsAlive(launcher); }));
  EXPECT_EQ(Run(Inside("next", "exit 7")).exit_code, 7);
  const pid_t another = LauncherOf("after");
  EXPECT_NE(another, 0);
  EXPECT_NE(another, launcher);
  EXPECT_EQ(Finish("long"), 6);
}

TEST_F(SandboxedLauncherTest, AProtectedDirectoryThatHasAppearedIsProtectedFromTheNextCommand) {
  const pid_t launcher = LauncherOf("before");
  EXPECT_EQ(Finish("before"), 6);
  ASSERT_EQ(Run(Inside("make", "mkdir sub && echo old > sub/file")).exit_code, 0);
  ASSERT_TRUE(Eventually([&] { return !std::filesystem::exists(In(".git")); }));  // the placeholder of the commands
  std::filesystem::create_directory(In(".git"));
  EXPECT_EQ(Run(Inside("denied", "echo x > .git/config")).exit_code, 2);
  EXPECT_EQ(Run(Inside("read", "cat sub/file")).output, "old\n");
  EXPECT_FALSE(std::filesystem::exists(In(".git/config")));
  const pid_t another = LauncherOf("after");
  EXPECT_NE(another, 0);
  EXPECT_NE(another, launcher);
}

TEST_F(SandboxedLauncherTest, ManyCommandsAtOnceHaveTheirOwnOutput) {
  constexpr int kCommands = 32;
  std::vector<int64_t> starts;
  for (int i = 0; i < kCommands; ++i) {
    const std::string id = "p" + std::to_string(i);
    starts.push_back(client_.Send("process/start", Inside(id, "echo " + id).Params()));
  }
  for (const int64_t start : starts) EXPECT_TRUE(client_.Await(start).Has("result"));
  for (int i = 0; i < kCommands; ++i) {
    const std::string id = "p" + std::to_string(i);
    EXPECT_EQ(client_.WaitForClosed(id), id + "\n");
  }
}

TEST_F(SandboxedLauncherTest, EndsWithItsSession) {
  ServerProcess server = ServerProcess::Start({"--detached-ttl-ms", "0"});
  RpcClient client = RpcClient::Ready(server.url());
  const pid_t launcher = LauncherOf(client, server, Inside("p", "read -r line"));
  ASSERT_NE(launcher, 0);
  client.Disconnect();
  EXPECT_TRUE(Eventually([&] { return !IsAlive(launcher) && ChildrenOf(server.pid()).empty(); }));
}

TEST_F(SandboxedLauncherTest, ThereIsNoneForBubblewrap) {
  ServerProcess server = ServerProcess::Start({"--sandbox-backend", "bubblewrap"});
  RpcClient client = RpcClient::Ready(server.url());
  EXPECT_EQ(LauncherOf(client, server, Inside("p", "read -r line")), 0);
  client.Write("p", "line\n");
  EXPECT_EQ(client.WaitForClosed("p"), "");
}

}  // namespace
}  // namespace holdfast::support
