// Tests of the fs/* methods of the real server under a sandbox: what each policy lets a client do, in the spelling of
// every client version, and what becomes of the file helpers. Each denial is shown beside the same act without a
// sandbox.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/file_uri.h"
#include "support/eventually.h"
#include "support/proc.h"
#include "support/rpc_client.h"
#include "support/sandbox_workspace.h"
#include "support/server_process.h"

namespace holdfast::support {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::UnorderedElementsAre;
using Clock = std::chrono::steady_clock;
using Strings = std::vector<std::string>;

constexpr char kReadOnlyText[] = "Read-only file system";
constexpr char kDeniedText[] = "Permission denied";

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string Data(std::string_view bytes) { return fmt::format(R"("dataBase64":"{}")", Base64(bytes)); }

std::string Managed(const Strings& entries, std::string_view network = "restricted") {
  return fmt::format(R"({{"type":"managed","file_system":{{"type":"restricted","entries":[{}]}},"network":"{}"}})",
                     fmt::join(entries, ","), network);
}

std::string Pattern(std::string_view pattern, std::string_view access = "deny") {
  return fmt::format(R"({{"path":{{"type":"glob_pattern","pattern":"{}"}},"access":"{}"}})", pattern, access);
}

// Returns the sandbox of a request; `more` are further members.
std::string Sandbox(std::string_view permissions, std::string_view more) {
  return fmt::format(R"({{"permissions":{},"windowsSandboxLevel":"disabled"{}{}}})", permissions,
                     more.empty() ? "" : ",", more);
}

// Returns whether a process is the file helper itself, which is the first that pid 1 of its sandbox starts.
bool IsSecondInItsNamespace(pid_t pid) {
  const std::string status = ReadProcFile(pid, "status").value_or("");
  const size_t at = status.find("NSpid:");
  return at != std::string::npos && status.substr(at, status.find('\n', at) - at).ends_with("\t2");
}

class SandboxedFsTest : public testing::TestWithParam<SandboxCase> {
 protected:
  void SetUp() override {
    if (const std::string reason = workspace_.WhyNot(); !reason.empty()) GTEST_SKIP() << reason;
    StartServer({});
  }

  void TearDown() override {
    const std::vector<pid_t> helpers = Helpers();
    client_.reset();
    server_.reset();
    EXPECT_TRUE(AreGone(helpers));
    EXPECT_TRUE(Eventually([&] { return !fs::exists(In(".codex")); })) << "a mount point was left";
  }

  // Returns all processes that the server has started: the file helpers with the processes around them. They are not
  // found by their environment, which other processes cannot read in a sandbox.
  std::vector<pid_t> Helpers() const { return server_ ? DescendantsOf(server_->pid()) : std::vector<pid_t>(); }
  // Returns them when there is a file helper for each sandbox. An idle one soon ends, so the requests may have to be
  // repeated.
  std::vector<pid_t> HelpersAfterUse(const Strings& sandboxes) {
    std::vector<pid_t> helpers;
    EXPECT_TRUE(Eventually([&] {
      for (const std::string& sandbox : sandboxes) EXPECT_EQ(CodeOf("fs/getMetadata", Path(In("")), sandbox), 0);
      helpers = Helpers();
      return std::ranges::count_if(helpers, IsSecondInItsNamespace) == std::ssize(sandboxes);
    }));
    return helpers;
  }
  static bool AreGone(const std::vector<pid_t>& processes) {
    return Eventually([&] { return std::ranges::none_of(processes, IsAlive); });
  }

  void StartServer(const Strings& flags) {
    client_.reset();
    server_.reset();
    const uid_t user = GetParam().user;
    server_.emplace(ServerProcess::Start(
        ServerOptions{.flags = flags, .env = {}, .user = user != ::geteuid() ? std::optional(user) : std::nullopt}));
    client_.emplace(RpcClient::Ready(server_->url()));
  }

  std::string In(std::string_view name) const { return workspace_.path() + "/" + std::string(name); }
  std::string Elsewhere(std::string_view name) const { return workspace_.elsewhere() + "/" + std::string(name); }
  void Give(const std::string& path) const {
    ASSERT_EQ(::lchown(path.c_str(), GetParam().user, GetParam().user), 0) << path;
  }
  std::string MakeFile(const std::string& path, std::string_view text) const {
    std::ofstream(path, std::ios::binary) << text;
    Give(path);
    return path;
  }
  std::string MakeDirectory(const std::string& path) const {
    EXPECT_EQ(::mkdir(path.c_str(), 0755), 0) << path;
    Give(path);
    return path;
  }
  static Strings NamesIn(const std::string& directory) {
    Strings names;
    for (const auto& entry : fs::directory_iterator(directory)) names.push_back(entry.path().filename());
    return names;
  }

  // Returns the profile that version 0.166 sends: everything may be read, and the workspace written except for
  // protected names.
  std::string WorkspaceWrite(const Strings& more = {}) const {
    Strings entries = {PlaceEntry("root", "read"), PlaceEntry("project_roots", "write")};
    for (const char* name : {".git", ".agents", ".codex", ".aws"}) {
      std::string entry = WorkspaceEntry(name, "read");
      entry.insert(entry.size() - 1, R"(,"missing_path_behavior":"skip")");
      entries.push_back(std::move(entry));
    }
    entries.insert(entries.end(), more.begin(), more.end());
    return Sandbox(Managed(entries), Places());
  }
  std::string Places() const {
    const std::string uri = FileUri(workspace_.path());
    return fmt::format(R"("cwd":"{0}","workspaceRoots":["{0}"])", uri);
  }
  std::string ReadOnly() const { return Sandbox(Managed({PlaceEntry("root", "read")}), Places()); }

  static std::string Path(std::string_view path) { return fmt::format(R"("path":{})", Quoted(path)); }
  static std::string FromTo(std::string_view source, std::string_view destination) {
    return fmt::format(R"("sourcePath":{},"destinationPath":{})", Quoted(source), Quoted(destination));
  }
  // Returns params with these members and the sandbox, if there is one.
  static std::string Params(std::string_view members, std::string_view sandbox) {
    if (sandbox.empty()) return fmt::format("{{{}}}", members);
    return fmt::format(R"({{{},"sandbox":{}}})", members, sandbox);
  }
  Message Do(std::string_view method, std::string_view members, std::string_view sandbox) {
    return client_->Call(method, Params(members, sandbox));
  }
  Message Do(std::string_view method, std::string_view members) { return Do(method, members, WorkspaceWrite()); }
  int64_t CodeOf(std::string_view method, std::string_view members, std::string_view sandbox) {
    return Do(method, members, sandbox).error_code();
  }
  void ExpectFailure(const Message& answer, int64_t code, std::string_view text) {
    EXPECT_EQ(answer.error_code(), code) << answer;
    if (answer.error_code() != 0) EXPECT_THAT(answer.Text("error.message"), HasSubstr(text));
  }

  SandboxWorkspace workspace_{GetParam()};
  std::optional<ServerProcess> server_;
  std::optional<RpcClient> client_;
};

INSTANTIATE_TEST_SUITE_P(, SandboxedFsTest, testing::ValuesIn(UsersWith({Means::kSystemBubblewrap})), CaseName);

struct Act {
  const char* method;
  std::string members;
};

TEST_P(SandboxedFsTest, AReadOnlyPolicyLetsNothingBeWritten) {
  const std::string file = MakeFile(In("file"), "text");
  EXPECT_EQ(Do("fs/readFile", Path(file), ReadOnly()).Bytes("result.dataBase64"), "text");
  EXPECT_EQ(Do("fs/getMetadata", Path(file), ReadOnly()).Number("result.size"), 4);
  EXPECT_EQ(Do("fs/readDirectory", Path(In("")), ReadOnly()).Size("result.entries"), 1u);
  const Act acts[] = {{"fs/writeFile", Path(file) + "," + Data("x")},
                      {"fs/writeFile", Path(file) + "," + Data("x") + R"(,"atomic":true)"},
                      {"fs/writeFile", Path(In("new")) + "," + Data("x")},
                      {"fs/createDirectory", Path(In("directory"))},
                      {"fs/copy", FromTo(file, In("copy")) + R"(,"recursive":false)"},
                      {"fs/open", Path(In("opened")) + R"(,"handleId":"h","mode":"replace")"},
                      {"fs/rename", FromTo(file, In("moved"))},
                      {"fs/remove", Path(In("moved")) + R"(,"force":false)"}};
  for (const auto& [method, members] : acts) {
    if (std::string_view(method) == "fs/remove") fs::copy(file, In("moved"));
    ExpectFailure(Do(method, members, ReadOnly()), -32603, kReadOnlyText);
    if (std::string_view(method) == "fs/remove") fs::remove(In("moved"));
  }
  EXPECT_EQ(ReadAll(file), "text");
  EXPECT_THAT(NamesIn(workspace_.path()), UnorderedElementsAre("file"));
  for (const auto& [method, members] : acts) EXPECT_EQ(CodeOf(method, members, ""), 0) << method;
}

TEST_P(SandboxedFsTest, AWorkspaceCanBeWrittenAndNothingElse) {
  const auto works = [&](const std::string& folder, std::string_view sandbox) {
    const Act acts[] = {{"fs/createDirectory", Path(folder + "/a/b")},
                        {"fs/writeFile", Path(folder + "/a/file") + "," + Data("hello")},
                        {"fs/copy", FromTo(folder + "/a", folder + "/c") + R"(,"recursive":true)"},
                        {"fs/rename", FromTo(folder + "/c/file", folder + "/c/moved")},
                        {"fs/remove", Path(folder + "/a") + R"(,"force":false)"}};
    std::vector<int64_t> codes;
    for (const auto& [method, members] : acts) codes.push_back(CodeOf(method, members, sandbox));
    return codes;
  };
  EXPECT_THAT(works(workspace_.path(), WorkspaceWrite()), testing::Each(0));
  EXPECT_EQ(ReadAll(In("c/moved")), "hello");
  EXPECT_FALSE(fs::exists(In("a")));
  EXPECT_THAT(works(workspace_.elsewhere(), WorkspaceWrite()), testing::Each(testing::Ne(0)));
  EXPECT_TRUE(fs::is_empty(workspace_.elsewhere()));
  ExpectFailure(Do("fs/writeFile", Path(Elsewhere("x")) + "," + Data("x")), -32603, kReadOnlyText);
  EXPECT_THAT(works(workspace_.elsewhere(), ""), testing::Each(0));
}

TEST_P(SandboxedFsTest, WhatIsDeniedIsNeitherReadNorFoundEmpty) {
  const std::string key = MakeFile(In("key"), "secret"), env = MakeFile(In("x.env"), "secret");
  const std::string folder = MakeDirectory(In("folder"));
  MakeFile(folder + "/file", "secret");
  const std::string sandbox =
      WorkspaceWrite({PathEntry(key, "deny"), PathEntry(FileUri(folder), "none"), Pattern("**/*.env")});
  const Act acts[] = {{"fs/readFile", Path(key)},
                      {"fs/readFile", Path(env)},
                      {"fs/readFile", Path(folder + "/file")},
                      {"fs/getMetadata", Path(folder + "/file")},
                      {"fs/readDirectory", Path(folder)},
                      {"fs/open", Path(key) + R"(,"handleId":"1")"},
                      {"fs/open", Path(env) + R"(,"handleId":"2")"},
                      {"fs/writeFile", Path(folder + "/file") + "," + Data("secret")},
                      {"fs/copy", FromTo(key, In("copy")) + R"(,"recursive":false)"}};
  for (const auto& [method, members] : acts) ExpectFailure(Do(method, members, sandbox), -32600, kDeniedText);
  const std::string blocks = R"("handleId":"1","offset":0,"len":10)";
  EXPECT_EQ(CodeOf("fs/readBlock", blocks, ""), -32004) << "nothing was opened";
  for (const auto& [method, members] : acts) EXPECT_EQ(CodeOf(method, members, ""), 0) << method;
  for (const std::string& path : {key, env, folder + "/file"}) EXPECT_EQ(ReadAll(path), "secret");
}

TEST_P(SandboxedFsTest, WhatIsMissingIsMissing) {
  const std::string missing = Path(In("missing"));
  for (const std::string& sandbox : {WorkspaceWrite(), ReadOnly()}) {
    EXPECT_EQ(CodeOf("fs/readFile", missing, sandbox), -32004);
    EXPECT_EQ(CodeOf("fs/getMetadata", missing, sandbox), -32004);
    EXPECT_EQ(CodeOf("fs/canonicalize", missing, sandbox), -32004);
    EXPECT_EQ(CodeOf("fs/readDirectory", missing, sandbox), -32004);
    EXPECT_EQ(CodeOf("fs/open", missing + R"(,"handleId":"h")", sandbox), -32004);
    EXPECT_EQ(CodeOf("fs/copy", FromTo(In("missing"), In("x")) + R"(,"recursive":false)", sandbox), -32004);
  }
  EXPECT_EQ(CodeOf("fs/writeFile", Path(In("missing/x")) + "," + Data(""), WorkspaceWrite()), -32004);
  EXPECT_EQ(CodeOf("fs/remove", missing, WorkspaceWrite()), 0);
}

TEST_P(SandboxedFsTest, ProtectedNamesCanBeReadOnly) {
  const Strings names = {".git", ".agents"};
  for (const std::string& name : names) MakeFile(MakeDirectory(In(name)) + "/config", "old");
  for (const std::string& name : names) {
    EXPECT_EQ(Do("fs/readFile", Path(In(name + "/config"))).Bytes("result.dataBase64"), "old");
    ExpectFailure(Do("fs/writeFile", Path(In(name + "/config")) + "," + Data("new")), -32603, kReadOnlyText);
    ExpectFailure(Do("fs/createDirectory", Path(In(name + "/hooks"))), -32603, kReadOnlyText);
    EXPECT_NE(Do("fs/rename", FromTo(In(name), In("x"))).error_code(), 0);
    EXPECT_NE(Do("fs/remove", Path(In(name))).error_code(), 0);
    EXPECT_EQ(ReadAll(In(name + "/config")), "old");
    EXPECT_EQ(CodeOf("fs/writeFile", Path(In(name + "/config")) + "," + Data("new"), ""), 0);
  }
}

// No placeholder protects these names, because a client that looks without a sandbox would see it.
TEST_P(SandboxedFsTest, ProtectedNamesThatAreMissingAreNotSeenAndCannotBeMade) {
  MakeFile(In("file"), "text");
  const std::string walk =
      R"(,"options":{"maxDepth":9,"maxDirectories":9,"maxEntries":99,"followDirectorySymlinks":true})";
  std::string entries = PlaceEntry("root", "read") + "," + PlaceEntry("project_roots", "write");
  for (const char* name : {".git", ".agents", ".codex", ".aws"}) entries += "," + WorkspaceEntry(name, "read");
  const std::string sandbox = Sandbox(Managed({entries, WorkspaceEntry("locked", "read")}), Places());
  const Message listed = Do("fs/readDirectory", Path(In("")), sandbox);
  ASSERT_EQ(listed.Size("result.entries"), 1u) << listed;
  EXPECT_EQ(listed.Text("result.entries.0.fileName"), "file");
  const Message walked = Do("fs/walk", Path(In("")) + walk, sandbox);
  ASSERT_EQ(walked.Size("result.entries"), 1u) << walked;
  EXPECT_EQ(walked.Text("result.entries.0.path"), FileUri(In("file")));
  EXPECT_THAT(NamesIn(In("")), UnorderedElementsAre("file"));
  ASSERT_EQ(::symlink(".git", In("link").c_str()), 0);
  for (const std::string name : {".git", ".codex", ".agents", ".aws", "locked", "link", ".git/config"}) {
    const std::string path = Path(In(name));
    EXPECT_EQ(CodeOf("fs/getMetadata", path, sandbox), -32004) << name;
    EXPECT_EQ(CodeOf("fs/readFile", path, sandbox), -32004) << name;
    EXPECT_EQ(CodeOf("fs/open", path + R"(,"handleId":"h")", sandbox), -32004) << name;
    EXPECT_EQ(CodeOf("fs/canonicalize", path, sandbox), -32004) << name;
    EXPECT_EQ(CodeOf("fs/readDirectory", path, sandbox), -32004) << name;
    EXPECT_EQ(CodeOf("fs/walk", path + walk, sandbox), -32004) << name;
    EXPECT_EQ(CodeOf("fs/copy", FromTo(In(name), In("copy")) + R"(,"recursive":true)", sandbox),
              name == "link" ? 0 : -32004)
        << name;
    EXPECT_NE(CodeOf("fs/writeFile", path + "," + Data("x"), sandbox), 0) << name;
    EXPECT_NE(CodeOf("fs/createDirectory", path, sandbox), 0) << name;
    EXPECT_NE(CodeOf("fs/createDirectory", Path(In(name + "/hooks")), sandbox), 0) << name;
  }
  EXPECT_THAT(NamesIn(In("")), UnorderedElementsAre("file", "link", "copy"));
}

// A file helper that was started before the user made a repository must not treat the name as missing.
TEST_P(SandboxedFsTest, AProtectedNameThatComesToExistIsProtectedAtOnce) {
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(CodeOf("fs/writeFile", Path(In("file")) + "," + Data("x"), WorkspaceWrite()), 0);
    MakeFile(MakeDirectory(In(".git")) + "/config", "old");
    EXPECT_EQ(Do("fs/readFile", Path(In(".git/config"))).Bytes("result.dataBase64"), "old");
    ExpectFailure(Do("fs/writeFile", Path(In(".git/config")) + "," + Data("new")), -32603, kReadOnlyText);
    EXPECT_EQ(Do("fs/open", Path(In(".git/config")) + R"(,"handleId":"h")").error_code(), 0);
    EXPECT_EQ(Do("fs/close", R"("handleId":"h")", "").error_code(), 0);
    EXPECT_EQ(CodeOf("fs/writeFile", Path(In("file")) + "," + Data("y"), WorkspaceWrite()), 0);
    EXPECT_EQ(CodeOf("fs/remove", Path(In(".git")), ""), 0);
  }
}

// A path that a policy denies may be created later as well.
TEST_P(SandboxedFsTest, ADeniedNameThatComesToExistIsDeniedAtOnce) {
  const std::string sandbox = WorkspaceWrite({WorkspaceEntry("secret", "deny")});
  EXPECT_EQ(CodeOf("fs/getMetadata", Path(In("")), sandbox), 0);
  EXPECT_EQ(CodeOf("fs/readFile", Path(In("secret")), sandbox), -32004);
  MakeFile(In("secret"), "text");
  EXPECT_NE(CodeOf("fs/readFile", Path(In("secret")), sandbox), 0);
  EXPECT_NE(CodeOf("fs/writeFile", Path(In("secret")) + "," + Data("x"), sandbox), 0);
  EXPECT_EQ(Do("fs/readFile", Path(In("secret")), "").Bytes("result.dataBase64"), "text");
}

// A command needs placeholders in the workspace while it runs. No request sees them.
TEST_P(SandboxedFsTest, TheMountPointsOfARunningCommandAreSeenByNoRequest) {
  MakeFile(In("file"), "text");
  const std::string walk =
      R"(,"options":{"maxDepth":9,"maxDirectories":9,"maxEntries":99,"followDirectorySymlinks":true})";
  const std::string start = fmt::format(
      R"({{"processId":"p","argv":["/bin/sh","-c","echo ready; exec sleep 60"],"cwd":{},"env":{{}},"tty":false,"sandbox":{}}})",
      Quoted(FileUri(In(""))), WorkspaceWrite({WorkspaceEntry("secret", "deny")}));
  ASSERT_EQ(client_->Call("process/start", start).error_code(), 0);
  ASSERT_TRUE(fs::exists(In(".git")) && fs::exists(In("secret"))) << "then there is nothing to hide";
  for (const std::string& sandbox : {std::string(), WorkspaceWrite(), ReadOnly()}) {
    for (const std::string name : {".git", ".codex", "secret", ".git/config"}) {
      const std::string path = Path(In(name));
      EXPECT_EQ(CodeOf("fs/getMetadata", path, sandbox), -32004) << name;
      EXPECT_EQ(CodeOf("fs/readFile", path, sandbox), -32004) << name;
      EXPECT_EQ(CodeOf("fs/canonicalize", path, sandbox), -32004) << name;
      EXPECT_EQ(CodeOf("fs/readDirectory", path, sandbox), -32004) << name;
      EXPECT_EQ(CodeOf("fs/open", path + R"(,"handleId":"h")", sandbox), -32004) << name;
    }
    EXPECT_EQ(Do("fs/readDirectory", Path(In("")), sandbox).Size("result.entries"), 1u);
    EXPECT_EQ(Do("fs/walk", Path(In("")) + walk, sandbox).Size("result.entries"), 1u);
  }
  EXPECT_EQ(CodeOf("fs/createDirectory", Path(In(".git/hooks")), ""), 0);
  EXPECT_TRUE(Do("fs/getMetadata", Path(In(".git")), "").Flag("result.isDirectory"));
  EXPECT_EQ(client_->Call("process/terminate", R"({"processId":"p"})").error_code(), 0);
  EXPECT_TRUE(Eventually([&] { return !fs::exists(In("secret")) && !fs::exists(In(".codex")); }));
  EXPECT_TRUE(fs::exists(In(".git/hooks"))) << "it is the user's";
}

// An empty directory that a client has made is no placeholder.
TEST_P(SandboxedFsTest, AnEmptyDirectoryOfTheUsersIsSeen) {
  const Strings names = {".git", "plain"};
  for (const std::string& name : names) MakeDirectory(In(name));
  for (const std::string& name : names) {
    EXPECT_TRUE(Do("fs/getMetadata", Path(In(name))).Flag("result.isDirectory")) << name;
    EXPECT_EQ(Do("fs/readDirectory", Path(In(name))).Size("result.entries"), 0u) << name;
  }
  EXPECT_EQ(Do("fs/readDirectory", Path(In(""))).Size("result.entries"), 2u);
}

TEST_P(SandboxedFsTest, EveryVersionsWordsMeanTheSame) {
  const std::string secret = MakeFile(In("secret"), "x");
  const std::string path = workspace_.path(), uri = FileUri(path);
  const std::string root = PlaceEntry("root", "read");
  const std::string old_cwd = fmt::format(R"("cwd":"{}")", path), cwd = fmt::format(R"("cwd":"{}")", uri);
  const std::pair<const char*, std::string> shapes[] = {
      {"0.130", Sandbox(Managed({root, PlaceEntry("current_working_directory", "write"), PathEntry(secret, "none")}),
                        old_cwd + R"(,"windowsSandboxPrivateDesktop":false)")},
      {"0.142",
       Sandbox(Managed({root, PlaceEntry("project_roots", "write"), PathEntry(FileUri(secret), "deny")}), cwd)},
      {"0.166", WorkspaceWrite({PathEntry(FileUri(secret), "deny")})},
      {"a context", Sandbox(Managed({root, PlaceEntry("project_roots", "write"), PathEntry(secret, "deny")}),
                            fmt::format(R"("cwd":"/","policyContext":{{{}}})", Places()))},
      {"untagged", Sandbox(fmt::format(R"({{"network":null,"file_system":{{"entries":[{},{},{}]}}}})", root,
                                       PathEntry(path, "write"), PathEntry(secret, "none")),
                           cwd)},
  };
  for (const auto& [name, sandbox] : shapes) {
    EXPECT_EQ(CodeOf("fs/writeFile", Path(In("made")) + "," + Data("x"), sandbox), 0) << name;
    ExpectFailure(Do("fs/writeFile", Path(Elsewhere("made")) + "," + Data("x"), sandbox), -32603, kReadOnlyText);
    ExpectFailure(Do("fs/readFile", Path(secret), sandbox), -32600, kDeniedText);
    ExpectFailure(Do("fs/readFile", Path(In("missing")), sandbox), -32004, "No such file");
  }
}

TEST_P(SandboxedFsTest, PoliciesOfTheOlderKindAreTaken) {
  const std::string cwd = fmt::format(R"("cwd":"{}")", FileUri(workspace_.path()));
  const std::string write = Path(In("made")) + "," + Data("x");
  const std::string away = Path(Elsewhere("made")) + "," + Data("x");
  const std::string in_tmp = R"("exclude_tmpdir_env_var":true,"exclude_slash_tmp":true)";
  for (const std::string& sandbox : {fmt::format(R"({{"sandboxPolicy":{{"type":"read-only"}},{}}})", cwd),
                                     fmt::format(R"({{"type":"read-only",{}}})", cwd)}) {
    ExpectFailure(Do("fs/writeFile", write, sandbox), -32603, kReadOnlyText);
  }
  const std::string workspace =
      fmt::format(R"({{"sandboxPolicy":{{"type":"workspace-write","writable_roots":[],{}}},{}}})", in_tmp, cwd);
  EXPECT_EQ(CodeOf("fs/writeFile", write, workspace), 0);
  ExpectFailure(Do("fs/writeFile", away, workspace), -32603, kReadOnlyText);
  EXPECT_EQ(CodeOf("fs/writeFile", away, R"({"type":"danger-full-access"})"), 0);
  EXPECT_EQ(CodeOf("fs/writeFile", away, Sandbox(R"({"type":"disabled"})", "")), 0);
}

TEST_P(SandboxedFsTest, ALargeFileIsReadAndWrittenInBlocks) {
  constexpr size_t kBlock = 1u << 20, kBlocks = 100;
  const std::string file = MakeFile(In("large"), "");
  ASSERT_EQ(::truncate(file.c_str(), kBlock * kBlocks), 0);
  ASSERT_EQ(CodeOf("fs/open", Path(file) + R"(,"handleId":"r")", ReadOnly()), 0);
  std::vector<int64_t> asked;
  for (size_t i = 0; i <= kBlocks; ++i) {
    asked.push_back(
        client_->Send("fs/readBlock", fmt::format(R"({{"handleId":"r","offset":{},"len":{}}})", i * kBlock, kBlock)));
  }
  size_t bytes = 0;
  for (const int64_t id : asked) bytes += client_->Await(id).Bytes("result.chunk").size();
  EXPECT_EQ(bytes, kBlock * kBlocks);

  const std::string made = In("made");
  ASSERT_EQ(CodeOf("fs/open", Path(made) + R"(,"handleId":"w","mode":"replace")", WorkspaceWrite()), 0);
  for (const auto& [offset, text] : {std::pair(0, "begin"), std::pair(5, "end")}) {
    EXPECT_EQ(
        CodeOf("fs/writeBlock", fmt::format(R"("handleId":"w","offset":{},"chunk":"{}")", offset, Base64(text)), ""),
        0);
  }
  EXPECT_EQ(CodeOf("fs/close", R"("handleId":"w")", ""), 0);
  EXPECT_EQ(ReadAll(made), "beginend");
  ExpectFailure(Do("fs/open", Path(Elsewhere("x")) + R"(,"handleId":"w","mode":"replace")"), -32603, kReadOnlyText);
}

TEST_P(SandboxedFsTest, AWriteMayBeAtomicAndConditional) {
  const std::string file = MakeFile(In("file"), "abc");
  const std::string digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";  // of abc
  const std::string write =
      Path(file) + "," + Data("new") + fmt::format(R"(,"atomic":true,"expectedSha256":"{}")", digest);
  EXPECT_EQ(CodeOf("fs/writeFile", write, WorkspaceWrite()), 0);
  EXPECT_EQ(ReadAll(file), "new");
  EXPECT_EQ(CodeOf("fs/writeFile", write, WorkspaceWrite()), -32600) << "it is another file by now";
  EXPECT_EQ(ReadAll(file), "new");
}

// Otherwise a client could leave programs in the workspace that other users run with the rights of this user.
TEST_P(SandboxedFsTest, NoFileIsMadeThatRunsAsItsOwnerOrGroup) {
  const auto mode_of = [](const std::string& path) {
    struct stat status = {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return status.st_mode & 07777;
  };
  const auto copy = [&](std::string_view sandbox) {
    EXPECT_EQ(CodeOf("fs/copy", FromTo(In("tree"), In("copy")) + R"(,"recursive":true)", sandbox), 0);
    const std::pair modes(mode_of(In("copy/both")), mode_of(In("copy/group")));
    EXPECT_EQ(mode_of(In("copy")), 02755u) << "of a directory it says which group new files get";
    fs::remove_all(In("copy"));
    return modes;
  };
  ASSERT_EQ(::chmod(MakeDirectory(In("tree")).c_str(), 02755), 0);
  ASSERT_EQ(::chmod(MakeFile(In("tree/both"), "x").c_str(), 06755), 0);
  ASSERT_EQ(::chmod(MakeFile(In("tree/group"), "x").c_str(), 02755), 0);
  EXPECT_EQ(copy(""), std::pair(06755u, 02755u));
  EXPECT_EQ(copy(WorkspaceWrite()), std::pair(0755u, 0755u));
  const std::string write = Path(In("tree/both")) + "," + Data("y") + R"(,"atomic":true)";
  EXPECT_EQ(CodeOf("fs/writeFile", write, WorkspaceWrite()), 0);
  EXPECT_EQ(mode_of(In("tree/both")), 0755u);
}

TEST_P(SandboxedFsTest, ALinkLeadsOutOfTheWorkspaceForReadingOnly) {
  const std::string target = MakeFile(Elsewhere("target"), "text"), secret = MakeFile(Elsewhere("secret"), "x");
  const std::string sandbox = WorkspaceWrite({PathEntry(secret, "deny")});
  ASSERT_EQ(::symlink(target.c_str(), In("link").c_str()), 0);
  ASSERT_EQ(::symlink(secret.c_str(), In("to_secret").c_str()), 0);
  EXPECT_EQ(Do("fs/readFile", Path(In("link")), sandbox).Bytes("result.dataBase64"), "text");
  EXPECT_EQ(Do("fs/canonicalize", Path(In("link")), sandbox).Text("result.path"), FileUri(target));
  ExpectFailure(Do("fs/readFile", Path(In("to_secret")), sandbox), -32600, kDeniedText);
  ExpectFailure(Do("fs/writeFile", Path(In("link")) + "," + Data("x"), sandbox), -32603, kReadOnlyText);
  EXPECT_NE(CodeOf("fs/writeFile", Path(In("link")) + "," + Data("x") + R"(,"atomic":true)", sandbox), 0);
  EXPECT_EQ(ReadAll(target), "text");
  EXPECT_EQ(CodeOf("fs/writeFile", Path(In("link")) + "," + Data("x"), ""), 0);
}

TEST_P(SandboxedFsTest, WithoutItsSandboxNothingIsDone) {
  const std::string sandbox = WorkspaceWrite({Pattern("**/{x")});
  for (const auto& [method, members] :
       {Act{"fs/writeFile", Path(In("made")) + "," + Data("x")}, Act{"fs/readFile", Path("/etc/passwd")},
        Act{"fs/open", Path(In("made")) + R"(,"handleId":"h","mode":"replace")"}}) {
    const Message answer = Do(method, members, sandbox);
    EXPECT_NE(answer.error_code(), 0) << answer;
    EXPECT_THAT(answer.Text("error.message"), HasSubstr("brace")) << method;
  }
  EXPECT_FALSE(fs::exists(In("made")));
  EXPECT_EQ(Do("fs/readFile", Path("/etc/passwd"), "").error_code(), 0);
}

TEST_P(SandboxedFsTest, AKilledHelperIsReplaced) {
  MakeFile(In("file"), "text");
  for (int round = 0; round < 5; ++round) {
    std::vector<pid_t> all;
    ASSERT_TRUE(Eventually([&] {
      EXPECT_EQ(Do("fs/readFile", Path(In("file"))).Bytes("result.dataBase64"), "text") << round;
      all = Helpers();
      std::erase_if(all, [](pid_t pid) { return !IsSecondInItsNamespace(pid); });
      return all.size() == 1;
    }));
    ::kill(all.front(), SIGKILL);
    ASSERT_TRUE(Eventually([&] { return !IsAlive(all.front()); }));
  }
}

TEST_P(SandboxedFsTest, NoHelperOutlivesItsSession) {
  StartServer({"--detached-ttl-ms", "0"});
  const std::vector<pid_t> helpers = HelpersAfterUse({WorkspaceWrite(), ReadOnly()});
  client_->Disconnect();
  EXPECT_TRUE(AreGone(helpers));
  EXPECT_TRUE(Eventually([&] { return fs::is_empty(workspace_.path()); }));
}

// The disconnect may also come in the middle of the start of a file helper.
TEST_P(SandboxedFsTest, ADisconnectWhileRequestsWaitLeavesNothing) {
  StartServer({"--detached-ttl-ms", "0"});
  for (int round = 0; round < 10; ++round) {
    RpcClient visitor = RpcClient::Ready(server_->url());
    for (int i = 0; i < 5; ++i) {
      visitor.Send("fs/writeFile",
                   Params(Path(In("file")) + "," + Data("x"), i % 2 == 0 ? WorkspaceWrite() : ReadOnly()));
    }
    ::usleep(static_cast<useconds_t>(round) * 3000);  // at different moments
    visitor.Disconnect();
  }
  EXPECT_TRUE(Eventually([&] { return std::ranges::none_of(Helpers(), IsAlive); }));
  fs::remove(In("file"));  // of a request that was under way
  EXPECT_TRUE(Eventually([&] { return fs::is_empty(workspace_.path()); }));
}

TEST_P(SandboxedFsTest, NoHelperOutlivesAServerThatIsKilled) {
  const std::vector<pid_t> helpers = HelpersAfterUse({WorkspaceWrite()});
  server_->Kill();
  server_.reset();
  EXPECT_TRUE(AreGone(helpers));
  EXPECT_TRUE(Eventually([&] { return fs::is_empty(workspace_.path()); }));
}

TEST_P(SandboxedFsTest, ManyClientsUnderManyPoliciesGetTheirOwnAnswers) {
  constexpr int kClients = 20, kRounds = 3;
  MakeFile(In("file"), "text");
  std::vector<RpcClient> clients;
  for (int i = 0; i < kClients; ++i) clients.push_back(RpcClient::Ready(server_->url()));
  const std::string denying = WorkspaceWrite({PathEntry(In("file"), "deny")});
  std::vector<std::vector<int64_t>> asked(kClients);
  for (int i = 0; i < kClients; ++i) {
    for (int round = 0; round < kRounds; ++round) {
      const std::string own = Path(In(fmt::format("{}.{}", i, round))) + "," + Data("x");
      asked[i].push_back(clients[i].Send("fs/readFile", Params(Path(In("file")), ReadOnly())));
      asked[i].push_back(clients[i].Send("fs/readFile", Params(Path(In("file")), denying)));
      asked[i].push_back(clients[i].Send("fs/writeFile", Params(own, WorkspaceWrite())));
      asked[i].push_back(clients[i].Send("fs/writeFile", Params(own, ReadOnly())));
    }
  }
  for (int i = 0; i < kClients; ++i) {
    const int64_t wanted[] = {0, -32600, 0, -32603};
    for (size_t k = 0; k < asked[i].size(); ++k) {
      const Message answer = clients[i].Await(asked[i][k], std::chrono::seconds(60));
      EXPECT_EQ(answer.error_code(), wanted[k % 4]) << i << " " << answer;
    }
  }
}

TEST_P(SandboxedFsTest, TheSecondCallIsQuick) {
  constexpr int kCalls = 200;
  const std::string file = MakeFile(In("file"), std::string(1024, 'x'));
  const std::string params = Params(Path(file), WorkspaceWrite());
  std::vector<double> ms;
  for (int i = 0; i <= kCalls; ++i) {
    const auto begin = Clock::now();
    ASSERT_EQ(client_->Call("fs/readFile", params).error_code(), 0);
    ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  const double first = ms.front();
  std::ranges::sort(ms);
  fmt::print("sandboxed fs/readFile: first {:.1f} ms, later p50 {:.3f} ms, p99 {:.3f} ms\n", first, ms[kCalls / 2],
             ms[kCalls * 99 / 100]);
  EXPECT_LT(ms[kCalls / 2], 20);
}

}  // namespace
}  // namespace holdfast::support
