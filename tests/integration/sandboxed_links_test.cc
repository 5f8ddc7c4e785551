// A command must not choose what the next one may write. It can put a link in the place of a directory of its root, and
// a later request may name that directory as a root: as its working directory, as a root of the workspace, or in a
// rule. The server remembers the roots that it has given out and refuses links in them.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file_uri.h"
#include "integration/sandboxed_fixture.h"

namespace holdfast::support {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using Strings = std::vector<std::string>;

// The workspace is not below /tmp, where every link is refused.
class SandboxedLinksTest : public testing::TestWithParam<SandboxCase> {
 protected:
  void SetUp() override {
    if (const std::string reason = workspace_.WhyNot(); !reason.empty()) GTEST_SKIP() << reason;
    std::error_code failed;
    if (!fs::create_directory(base_, failed)) GTEST_SKIP() << "/opt cannot be written";
    for (const char* name : {"", "/project", "/project/sub", "/project/kept", "/victim"}) {
      fs::create_directory(base_ + name);
      ASSERT_EQ(::lchown((base_ + name).c_str(), GetParam().user, GetParam().user), 0);
    }
    const uid_t user = GetParam().user;
    server_.emplace(ServerProcess::Start(
        {.flags = {}, .env = {}, .user = user != ::geteuid() ? std::optional(user) : std::nullopt}));
    client_.emplace(RpcClient::Ready(server_->url()));
  }
  void TearDown() override {
    client_.reset();
    server_.reset();
    std::error_code ignored;
    fs::remove_all(base_, ignored);
  }

  std::string In(const std::string& name) const { return base_ + "/" + name; }

  // Returns a request whose sandbox may write its directory, with further members.
  StartRequest Request(const std::string& script, const std::string& cwd, const std::string& members = "",
                       const std::string& entry = PlaceEntry("project_roots", "write")) {
    StartRequest request = Shell(fmt::format("c{}", ++runs_), script);
    request.cwd = cwd;
    request.more = Sandbox(Managed(PlaceEntry("root", "read") + "," + entry), members);
    return request;
  }

  std::string Run(RpcClient& client, const StartRequest& request) {
    client.Start(request);
    (void)client.WaitForNotification("process/exited", request.id);
    return client.WaitForClosed(request.id);
  }

  std::string ReasonOf(RpcClient& client, const StartRequest& request) {
    const Message answer = client.Call("process/start", request.Params());
    if (!answer.Has("error")) return "it was started";
    return answer.Text("error.message");
  }

  // A command leaves a link to the victim in the place of the directory.
  void LeaveLink() {
    EXPECT_EQ(Run(*client_, Request("rmdir sub && ln -s ../victim sub && echo left", In("project"))), "left\n");
    ASSERT_TRUE(fs::is_symlink(In("project/sub")));
  }
  bool IsVictimUntouched() const { return fs::is_empty(In("victim")); }

  static constexpr const char* kWrite = "touch made ../sub/made sub/made ; true";

  const std::string base_ = fmt::format("/opt/holdfast-links-{}", ::getpid());
  SandboxWorkspace workspace_{GetParam()};
  std::optional<ServerProcess> server_;
  std::optional<RpcClient> client_;
  int runs_ = 0;
};

INSTANTIATE_TEST_SUITE_P(, SandboxedLinksTest, testing::ValuesIn(UsersWith({Means::kNative})), CaseName);

TEST_P(SandboxedLinksTest, NoRootIsReachedThroughALinkThatACommandHasLeft) {
  LeaveLink();
  const std::string link = In("project/sub"), named = "crosses the link " + link;
  const std::string roots = fmt::format(R"(,"workspaceRoots":["{}"])", FileUri(link));
  const std::string cwd = fmt::format(R"(,"cwd":"{}")", FileUri(link));
  EXPECT_THAT(ReasonOf(*client_, Request(kWrite, link)), HasSubstr(named)) << "as the working directory";
  EXPECT_THAT(ReasonOf(*client_, Request(kWrite, In("project"), roots)), HasSubstr(named)) << "as a root";
  EXPECT_THAT(ReasonOf(*client_, Request(kWrite, In("project"), cwd)), HasSubstr(named)) << "as the project";
  EXPECT_THAT(ReasonOf(*client_, Request(kWrite, In("project"), "", PathEntry(link, "write"))), HasSubstr(named));
  EXPECT_THAT(ReasonOf(*client_, Request(kWrite, In("project"), "", PathEntry(link + "/deep", "write"))),
              HasSubstr(named))
      << "each link on the way counts";
  EXPECT_TRUE(IsVictimUntouched());
}

TEST_P(SandboxedLinksTest, AnotherSessionIsNotLedAstrayEither) {
  LeaveLink();
  RpcClient other = RpcClient::Ready(server_->url());
  EXPECT_THAT(ReasonOf(other, Request(kWrite, In("project/sub"))), HasSubstr("crosses the link"));
  EXPECT_TRUE(IsVictimUntouched());
}

TEST_P(SandboxedLinksTest, FileRequestsAreNotLedAstrayEither) {
  LeaveLink();
  const std::string entries = PlaceEntry("root", "read") + "," + PlaceEntry("project_roots", "write");
  const Message answer =
      client_->Call("fs/writeFile",
                    fmt::format(R"({{"path":"{}","dataBase64":"eA==",{}}})", FileUri(In("project/sub/made")),
                                Sandbox(Managed(entries), fmt::format(R"(,"cwd":"{}")", FileUri(In("project/sub"))))));
  EXPECT_TRUE(answer.Has("error")) << answer;
  EXPECT_TRUE(IsVictimUntouched());
}

// The directory is the same one, whatever it is called.
TEST_P(SandboxedLinksTest, ARenamedRootIsKnown) {
  LeaveLink();
  fs::rename(In("project"), In("renamed"));
  EXPECT_THAT(ReasonOf(*client_, Request(kWrite, In("renamed/sub"))), HasSubstr("crosses the link"));
  EXPECT_TRUE(IsVictimUntouched());
}

TEST_P(SandboxedLinksTest, TheClientsOwnLinkedDirectoryCanBeUsed) {
  LeaveLink();
  fs::create_symlink(In("project/kept"), In("chosen"));
  ASSERT_EQ(::lchown(In("chosen").c_str(), GetParam().user, GetParam().user), 0);
  EXPECT_EQ(Run(*client_, Request("touch made && echo made", In("chosen"))), "made\n");
  EXPECT_TRUE(fs::exists(In("project/kept/made")));
  EXPECT_EQ(Run(*client_, Request("touch again && echo again", In("chosen"))), "again\n") << "and used again";
}

}  // namespace
}  // namespace holdfast::support
