// Scripts that do what real clients do with a server: they send the requests of each of three versions, in its order
// and spelling, and check what that version needs of the answers. `make e2e` tests with the real clients.
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/sandboxed_fixture.h"

namespace holdfast::support {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using Strings = std::vector<std::string>;

enum class Version { k130, k142, k166 };

constexpr int64_t kNotFound = -32004;

// A directory that a workspace policy does not let commands write, and which is therefore not in /tmp.
class FarDirectory {
 public:
  FarDirectory() { EXPECT_NE(::mkdtemp(path_.data()), nullptr); }
  ~FarDirectory() {
    std::error_code ignored;  // nothing depends on it
    fs::remove_all(path_, ignored);
  }
  FarDirectory(const FarDirectory&) = delete;
  FarDirectory& operator=(const FarDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/var/tmp/holdfast_test.XXXXXX";
};

class ClientStoryTest : public testing::TestWithParam<Version> {
 protected:
  void SetUp() override {
    if (Program({"bwrap", "--unshare-user", "--ro-bind", "/", "/", "true"}).Finish().status != 0) {
      GTEST_SKIP() << "bubblewrap, or user namespaces, are not available";
    }
    project_.Write("AGENTS.md", "be brief\n");
    fs::create_directory(In(".git"));
    const char* other = std::getenv("HOLDFAST_BINARY");
    const fs::path folder = fs::path(other != nullptr ? other : HOLDFAST_BINARY).parent_path();
    fs::create_symlink(folder / "holdfast-linux-sandbox", own_sandbox());
    hello_ = client_.Call("initialize", R"({"clientName":"codex-environment","resumeSessionId":null})");
    client_.Notify("initialized");
  }

  bool Is(Version version) const { return GetParam() == version; }
  std::string In(const std::string& name) const { return project_.path() + "/" + name; }
  // Version 0.130 sends paths, and later versions send file: URIs.
  std::string Path(const std::string& path) const { return Quoted(Is(Version::k130) ? path : "file://" + path); }
  std::string own_sandbox() const { return home_.path() + "/codex-linux-sandbox"; }

  // Returns the standard workspace policy.
  std::string Permissions() const {
    std::string entries = PlaceEntry("root", "read");
    for (const char* kind : {"project_roots", "slash_tmp", "tmpdir"}) entries += "," + PlaceEntry(kind, "write");
    Strings names = {".git", ".agents", ".codex"};
    if (Is(Version::k166)) names.emplace_back(".aws");
    for (const std::string& name : names) {
      std::string entry = WorkspaceEntry(name, "read");
      if (Is(Version::k166)) entry.insert(entry.size() - 1, R"(,"missing_path_behavior":"skip")");
      entries += "," + entry;
    }
    if (Is(Version::k130)) entries += "," + PathEntry(home_.path() + "/memories", "write");
    return Managed(entries);
  }

  std::string SandboxObject() const {
    std::string more = fmt::format(R"(,"cwd":{},"useLegacyLandlock":false)", Path(project_.path()));
    more += Is(Version::k166) ? fmt::format(R"(,"workspaceRoots":[{}],"windowsSandboxProxySettingsMode":"reconcile")",
                                            Path(project_.path()))
                              : R"(,"windowsSandboxPrivateDesktop":true)";
    return fmt::format(R"({{"permissions":{},"windowsSandboxLevel":"disabled"{}}})", Permissions(), more);
  }

  enum class Held { kYes, kNo };

  // Version 0.130 starts its own sandbox program around the command; later versions ask the server for a sandbox.
  std::string StartParams(const std::string& id, const std::string& script, Held held, std::string_view tty) const {
    Strings argv;
    const bool brings_sandbox = Is(Version::k130) && held == Held::kYes;
    if (brings_sandbox) {
      argv = {own_sandbox(),   "--sandbox-policy-cwd", project_.path(), "--command-cwd",
              project_.path(), "--permission-profile", Permissions(),   "--"};
    }
    argv.insert(argv.end(), {"/bin/bash", "-c", script});
    std::string words;
    for (const std::string& word : argv) words += (words.empty() ? "" : ",") + Quoted(word);
    const std::string marker = RunMarker();
    const size_t equals = marker.find('=');
    std::string params = fmt::format(
        R"({{"processId":{},"argv":[{}],"cwd":{},"envPolicy":{{"inherit":"all","ignoreDefaultExcludes":true,"exclude":[],)"
        R"("set":{{}},"includeOnly":[]}},"env":{{"TERM":"dumb","NO_COLOR":"1","LC_ALL":"C.UTF-8","ASAN_OPTIONS":)"
        R"("detect_leaks=0",{}:{}}},"tty":{},"pipeStdin":false,"arg0":{})",
        Quoted(id), words, Path(project_.path()), Quoted(marker.substr(0, equals)), Quoted(marker.substr(equals + 1)),
        tty, brings_sandbox ? Quoted(own_sandbox()) : "null");
    if (!Is(Version::k130)) {
      params +=
          fmt::format(R"(,"sandbox":{},"enforceManagedNetwork":false)", held == Held::kYes ? SandboxObject() : "null");
    }
    if (Is(Version::k166)) params += R"(,"managedNetwork":null,"metadata":{"threadId":"t","toolCallId":"c"})";
    return params + "}";
  }

  struct Ended {
    int64_t exit_code;
    std::string output;
    bool denied;
  };

  // Clients before 0.142 send process/read after every notification, and later ones use the notifications themselves.
  // All of them end with process/terminate.
  Ended Run(const std::string& id, const std::string& script, Held held, std::string_view tty = "false") {
    const Message started = client_.Call("process/start", StartParams(id, script, held, tty));
    EXPECT_EQ(started.Text("result.processId"), id) << started;
    const Ended ended = Is(Version::k166) ? Listen(id) : ReadAll(id);
    EXPECT_FALSE(client_.Call("process/terminate", IdParams(id)).Flag("result.running"));
    return ended;
  }

  Ended Listen(const std::string& id) {
    const Message exited = client_.WaitForNotification("process/exited", id);
    const Message closed = client_.WaitForNotification("process/closed", id);
    EXPECT_GT(closed.Number("params.seq"), exited.Number("params.seq"));
    return {exited.Number("params.exitCode"), client_.Output(id), exited.Flag("params.sandboxDenied")};
  }

  Ended ReadAll(const std::string& id) {
    std::string output;
    for (int64_t after = 0;;) {
      const std::string position = after == 0 ? "null" : std::to_string(after);
      const Message read = client_.Call(
          "process/read", IdParams(id, fmt::format(R"("afterSeq":{},"maxBytes":null,"waitMs":0)", position)));
      for (size_t i = 0; i < read.Size("result.chunks"); ++i) {
        const std::string chunk = fmt::format("result.chunks.{}.", i);
        output += read.Bytes(chunk + "chunk");
        EXPECT_GT(read.Number(chunk + "seq"), after);
        after = read.Number(chunk + "seq");
      }
      EXPECT_TRUE(read.IsNull("result.failure"));
      if (read.Flag("result.closed")) {
        return {read.Number("result.exitCode"), output, read.Flag("result.sandboxDenied")};
      }
      if (!client_.Pump(kPatience)) {
        ADD_FAILURE() << "no notification: " << read;
        return {-1, output, false};
      }
    }
  }

  // Calls fs/METHOD under the sandbox, as a client does for a tool of the model. The client's own look-ups have no
  // sandbox.
  Message File(const std::string& method, const std::string& path, std::string_view more = "") {
    return client_.Call("fs/" + method,
                        fmt::format(R"({{"path":{},"sandbox":{}{}}})", Path(path), SandboxObject(), more));
  }
  Message LookUp(const std::string& method, const std::string& path) {
    return client_.Call("fs/" + method, fmt::format(R"({{"path":{},"sandbox":null}})", Path(path)));
  }
  static std::string Data(std::string_view bytes) { return fmt::format(R"(,"dataBase64":"{}")", Base64(bytes)); }

  ScratchDir project_, home_;
  FarDirectory far_;
  ServerProcess server_ = ServerProcess::Start({.env = {"TMPDIR=/tmp"}});
  RpcClient client_{OpenChannel(server_.url())};
  Message hello_;
};

INSTANTIATE_TEST_SUITE_P(, ClientStoryTest, testing::Values(Version::k130, Version::k142, Version::k166),
                         [](const auto& test) {
                           return test.param == Version::k130   ? "0_130"
                                  : test.param == Version::k142 ? "0_142"
                                                                : "0_166";
                         });

// A client without a session offers no tools, and one without a shell knows no command.
TEST_P(ClientStoryTest, Connects) {
  EXPECT_FALSE(hello_.Text("result.sessionId").empty());
  if (Is(Version::k142)) {
    const Message info = client_.Call("environment/info", "null");
    EXPECT_EQ(info.Text("result.shell.path").front(), '/');
    EXPECT_FALSE(info.Text("result.shell.name").empty());
  }
  if (Is(Version::k166)) {
    EXPECT_EQ(hello_.Text("result.environmentInfo.shell.path").front(), '/');
    EXPECT_THAT(hello_.Text("result.environmentInfo.cwd"), HasSubstr("file:///"));
    EXPECT_TRUE(hello_.Flag("result.environmentInfo.capabilities.fsWatchMissing"));
  }
}

TEST_P(ClientStoryTest, LooksAroundInTheProject) {
  EXPECT_TRUE(LookUp("getMetadata", In(".git")).Flag("result.isDirectory"));
  EXPECT_EQ(LookUp("getMetadata", In(".agents/skills")).error_code(), kNotFound);
  EXPECT_EQ(LookUp("getMetadata", In("AGENTS.override.md")).error_code(), kNotFound);
  EXPECT_EQ(LookUp("getMetadata", In("AGENTS.md")).Number("result.size"), 9);
  EXPECT_EQ(LookUp("readFile", In("AGENTS.md")).Bytes("result.dataBase64"), "be brief\n");
  if (!Is(Version::k166)) return;
  // The requests are sent together, and each is answered.
  std::vector<int64_t> ids;
  for (fs::path path = project_.path();; path = path.parent_path()) {
    ids.push_back(client_.Send("fs/getMetadata", fmt::format(R"({{"path":{},"sandbox":null}})", Path(path / ".git"))));
    if (path == path.root_path()) break;
  }
  for (const int64_t id : ids) {
    const int64_t error = client_.Await(id).error_code();
    EXPECT_TRUE(error == 0 || error == kNotFound) << error;
  }
  const Message watch = client_.Call("fs/watchMissing", fmt::format(R"({{"watchId":1,"missing":[{}],"present":{}}})",
                                                                    Path(In(".agents/skills")), Path(In(".git"))));
  EXPECT_TRUE(watch.Flag("result.watching"));
}

TEST_P(ClientStoryTest, RunsACommandInTheWorkspace) {
  const Ended ended = Run("1001", "echo inside > inside.txt && cat inside.txt && pwd -P", Held::kYes);
  EXPECT_EQ(ended.exit_code, 0) << ended.output;
  EXPECT_EQ(ended.output, "inside\n" + fs::canonical(project_.path()).string() + "\n");
  EXPECT_FALSE(ended.denied);
  EXPECT_EQ(Contents(In("inside.txt")), "inside\n");
}

TEST_P(ClientStoryTest, RunsACommandOnATerminal) {
  const Ended ended = Run("1002", "test -t 0 && echo a terminal", Held::kYes, "true");
  EXPECT_EQ(ended.output, "a terminal\r\n");
  EXPECT_EQ(ended.exit_code, 0);
}

// Version 0.130 judges by the output whether the sandbox was the reason; the others use sandboxDenied, and retry under
// a new id.
TEST_P(ClientStoryTest, RetriesADeniedCommandWithoutASandbox) {
  const std::string made = far_.path() + "/made";
  const std::string script = "echo granted > " + made + " && cat " + made;
  const Ended denied = Run("1003-first", script, Held::kYes);
  EXPECT_EQ(denied.exit_code, 1);
  EXPECT_THAT(denied.output, HasSubstr("Read-only file system"));
  EXPECT_EQ(denied.denied, !Is(Version::k130));
  EXPECT_FALSE(fs::exists(made));
  const Ended retried = Run("1003", script, Held::kNo);
  EXPECT_EQ(retried.exit_code, 0);
  EXPECT_EQ(retried.output, "granted\n");
  EXPECT_FALSE(retried.denied);
}

TEST_P(ClientStoryTest, AsksNothingAfterAPlainFailure) {
  const Ended ended = Run("1004", "ls /definitely-not-here; exit 3", Held::kYes);
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_FALSE(ended.denied);
}

TEST_P(ClientStoryTest, KeepsTheRepositoryAndTheNetworkFromACommand) {
  const Ended ended = Run("1005", "echo x > .git/config; exec 3<>/dev/tcp/127.0.0.1/9; exit 1", Held::kYes);
  EXPECT_THAT(ended.output, HasSubstr("Read-only file system"));
  EXPECT_THAT(ended.output, testing::Not(HasSubstr("Connection refused"))) << "it got as far as the host";
  EXPECT_FALSE(fs::exists(In(".git/config")));
}

// For a missing file, fs/getMetadata and fs/readFile must both answer that it does not exist, or else the patch fails.
// The client makes a missing directory and repeats the write.
TEST_P(ClientStoryTest, PatchesFiles) {
  const std::string added = In("deep/dir/new.txt"), moved = In("moved.txt");
  EXPECT_EQ(File("getMetadata", added).error_code(), kNotFound);
  EXPECT_EQ(File("readFile", added).error_code(), kNotFound);
  EXPECT_EQ(File("writeFile", added, Data("one\n")).error_code(), kNotFound);
  EXPECT_EQ(File("createDirectory", In("deep/dir"), R"(,"recursive":true)").error_code(), 0);
  EXPECT_EQ(File("writeFile", added, Data("one\n")).error_code(), 0);
  EXPECT_EQ(File("readFile", added).Bytes("result.dataBase64"), "one\n");
  EXPECT_EQ(File("writeFile", added, Data("two\n")).error_code(), 0);
  EXPECT_EQ(File("getMetadata", moved).error_code(), kNotFound);
  EXPECT_EQ(File("writeFile", moved, Data("two\n")).error_code(), 0);
  EXPECT_TRUE(File("getMetadata", added).Flag("result.isFile"));
  EXPECT_EQ(File("remove", added, R"(,"recursive":false,"force":false)").error_code(), 0);
  EXPECT_EQ(Contents(moved), "two\n");
  EXPECT_FALSE(fs::exists(added));
}

TEST_P(ClientStoryTest, CannotPatchOutsideOfTheWorkspace) {
  const std::string path = far_.path() + "/made";
  EXPECT_EQ(File("readFile", path).error_code(), kNotFound);
  const Message refused = File("writeFile", path, Data("no"));
  EXPECT_EQ(refused.error_code(), -32603) << refused;
  EXPECT_THAT(refused.Text("error.message"), HasSubstr("Read-only file system"));
  EXPECT_FALSE(fs::exists(path));
  EXPECT_NE(File("writeFile", In(".git/hooks"), Data("no")).error_code(), 0);
}

// Without a size in the metadata, later versions consider the image too large.
TEST_P(ClientStoryTest, ViewsAnImage) {
  const std::string image("\x89PNG\r\n\x1a\n\x00\x00", 10);
  const std::string path = project_.Write("pic.png", image);
  const Message metadata = File("getMetadata", path);
  EXPECT_TRUE(metadata.Flag("result.isFile"));
  EXPECT_EQ(metadata.Number("result.size"), 10);
  EXPECT_EQ(File("readFile", path).Bytes("result.dataBase64"), image);
}

// From 0.142 on, a client reconnects with its session, reads on after the last number that it has, and must find no
// gap.
TEST_P(ClientStoryTest, ComesBackToACommand) {
  if (Is(Version::k130)) GTEST_SKIP() << "this version does not reconnect";
  const std::string script = "echo one; until [ -e go ]; do sleep 0.01; done; echo two";
  client_.Call("process/start", StartParams("1006", script, Held::kYes, "false"));
  client_.WaitForOutput("1006", "one\n");
  client_.Disconnect();
  const std::string resume = R"("resumeSessionId":)" + Quoted(hello_.Text("result.sessionId"));
  RpcClient again(OpenChannel(server_.url()));
  while (again.Initialize(resume).error_code() == -32010) again = RpcClient(OpenChannel(server_.url()));
  again.Notify("initialized");
  project_.Write("go", "");
  Message read;
  do {
    read = again.Call("process/read", IdParams("1006", R"("afterSeq":1,"maxBytes":null,"waitMs":1000)"));
  } while (!read.Flag("result.closed"));
  EXPECT_EQ(read.Bytes("result.chunks.0.chunk"), "two\n");
  EXPECT_EQ(read.Number("result.chunks.0.seq"), 2);
  EXPECT_EQ(read.Number("result.nextSeq"), 5) << "the exit is 3, the end 4";
}

}  // namespace
}  // namespace holdfast::support
