// No program of ours lets a sandboxed command into the directory where the user's private server listens: a command
// that listened there would get the arguments and the environment of the next `holdfast` command, and one that left a
// pipe or a lock there would stop all of them. Each act is tried outside, where it works, and inside.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file_uri.h"
#include "integration/sandboxed_fixture.h"
#include "support/mcp_client.h"

namespace holdfast::support {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using Strings = std::vector<std::string>;

// The acts, each of which prints a word when it succeeds.
constexpr char kActs[] = R"(cd $WS
cat holdfast/exec-server.log 2>/dev/null && echo read
mkfifo holdfast/exec-server.lock 2>/dev/null && echo planted
mv holdfast away 2>/dev/null && echo moved
mkdir holdfast 2>/dev/null && echo made
echo tried)";

constexpr char kAllDone[] = "log\nread\nplanted\nmoved\nmade\ntried\n";
constexpr char kNoneDone[] = "tried\n";

class PrivateDirTest : public testing::Test {
 protected:
  PrivateDirTest() {
    workspace_.Write("holdfast/exec-server.log", "log\n");
    EXPECT_EQ(::chmod((workspace_.path() + "/holdfast").c_str(), 0700), 0);
  }
  void SetUp() override {
    if (Program({"bwrap", "--unshare-user", "--ro-bind", "/", "/", "true"}).Finish().status != 0) {
      GTEST_SKIP() << "bubblewrap, or user namespaces, are not available";
    }
  }

  Strings Environment() const { return {"XDG_RUNTIME_DIR=" + workspace_.path(), "WS=" + workspace_.path()}; }
  std::string Acts() const { return fmt::format("WS={}; {}", workspace_.path(), kActs); }
  // Runs a program with the directory in its environment.
  Outcome Run(const Strings& words) const {
    Strings all = {"env"};
    for (const std::string& variable : Environment()) all.push_back(variable);
    all.insert(all.end(), words.begin(), words.end());
    return Program(all).Finish();
  }
  // Returns a policy under which the directory above the private one may be written.
  std::string Policy() const {
    return Managed(PlaceEntry("root", "read") + "," + PathEntry(workspace_.path(), "write"), "enabled");
  }
  std::string Helper() const { return (fs::path(HOLDFAST_BINARY).parent_path() / "holdfast-linux-sandbox").string(); }

  ScratchDir workspace_;
};

TEST_F(PrivateDirTest, CanBeUsedWithoutASandbox) { EXPECT_EQ(Run({"sh", "-c", Acts()}).out, kAllDone); }

TEST_F(PrivateDirTest, IsHiddenByTheSandboxCommand) {
  for (const char* backend : {"native", "bubblewrap"}) {
    const Outcome outcome = Run({HOLDFAST_BINARY, "sandbox", "--backend", backend, "--network", "-w", workspace_.path(),
                                 "-C", "/usr", "--", "sh", "-c", Acts()});
    EXPECT_EQ(outcome.out, kNoneDone) << backend << outcome.err;
  }
}

TEST_F(PrivateDirTest, IsHiddenByAHelperThatIsStartedByHand) {
  for (const char* backend : {"native", "bubblewrap"}) {
    const Outcome outcome = Run({Helper(), "--backend", backend, "--sandbox-policy-cwd", "/usr", "--permission-profile",
                                 Policy(), "--", "sh", "-c", Acts()});
    EXPECT_EQ(outcome.out, kNoneDone) << backend << outcome.err;
  }
}

// The first command is started by the helper, and one of the next ones by a launcher. Their environment names another
// place.
TEST_F(PrivateDirTest, IsHiddenByAServer) {
  const ServerProcess server = ServerProcess::Start(ServerOptions{.flags = {}, .env = Environment()});
  RpcClient client = RpcClient::Ready(server.url());
  for (const char* id : {"a", "b", "c"}) {
    StartRequest request = Shell(id, Acts());
    request.cwd = "/usr";
    request.more = Sandbox(Policy());
    client.Start(request);
    EXPECT_EQ(client.WaitForClosed(id), kNoneDone) << id;
  }
  const Message read = client.Call(
      "fs/readFile", fmt::format(R"({{"path":"{}",{}}})", FileUri(workspace_.path() + "/holdfast/exec-server.log"),
                                 Sandbox(Policy())));
  EXPECT_THAT(read.Text("error.message"), HasSubstr("Permission denied")) << read;
}

TEST_F(PrivateDirTest, IsHiddenByTheMcpServer) {
  McpClient client({.env = Environment()});
  client.SetSandbox(
      fmt::format(R"({{"type":"workspace-write","writable_roots":["{}"],"network_access":true}})", workspace_.path()),
      "/usr");
  EXPECT_EQ(client.Shell(Acts()).Text("output"), kNoneDone);
}

// Landlock cannot deny anything inside of what may be written.
TEST_F(PrivateDirTest, IsNotOpenedUnderLandlockAlone) {
  const Outcome outcome = Run({HOLDFAST_BINARY, "sandbox", "--backend", "landlock", "-w", workspace_.path(), "-C",
                               "/usr", "--", "sh", "-c", Acts()});
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("landlock cannot hide " + workspace_.path() + "/holdfast"));
}

// Without a session the directory is made in the home directory before a command could make it.
TEST_F(PrivateDirTest, IsMadeBeforeACommandCouldMakeIt) {
  fs::create_directory(workspace_.path() + "/.cache");
  const Outcome outcome =
      Program(
          {"env", "-u", "XDG_RUNTIME_DIR", "HOME=" + workspace_.path(), HOLDFAST_BINARY, "sandbox", "-w",
           workspace_.path(), "-C", "/usr", "--", "sh", "-c",
           "cd ~/.cache; mkdir holdfast && echo made; mkfifo holdfast/exec-server.lock && echo planted; echo tried"})
          .Finish();
  EXPECT_EQ(outcome.out, kNoneDone) << outcome.err;
  EXPECT_TRUE(fs::is_empty(workspace_.path() + "/.cache/holdfast"));
}

}  // namespace
}  // namespace holdfast::support
