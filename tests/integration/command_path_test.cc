// Tests of the programs that commands find first in their PATH, with and without a sandbox.
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file_uri.h"
#include "integration/sandboxed_fixture.h"

namespace holdfast::support {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// The sanitizer does not look for leaks, because that needs ptrace, which the filter of the sandbox refuses.
constexpr const char* kPatch =
    "ASAN_OPTIONS=detect_leaks=0 apply_patch '*** Begin Patch\n*** Update File: a\n@@\n-old\n+new\n*** End Patch' && "
    "cat a && command -v rg";

class CommandPathTest : public SandboxedFixture {
 protected:
  static std::string Path() {
    return fs::path(HOLDFAST_BINARY).parent_path().parent_path().string() + "/libexec/holdfast/path";
  }

  std::string Output(const StartRequest& request) {
    client_.Start(request);
    return client_.WaitForClosed(request.id);
  }
};

TEST_F(CommandPathTest, IsAnnounced) {
  const Message info = client_.Call("environment/info");
  EXPECT_EQ(info.Size("result.prependPathDirs"), 1u);
  EXPECT_EQ(info.Text("result.prependPathDirs.0"), FileUri(Path()));
}

TEST_F(CommandPathTest, HasThePatchToolUnderBothNames) {
  workspace_.Write("a", "old\n");
  StartRequest request = Shell("p", kPatch);
  request.cwd = workspace_.path();
  EXPECT_THAT(Output(request), StartsWith("Success. Updated the following files:\nM a\nnew\n"));
  request = Shell("q", "command -v apply_patch; command -v applypatch");
  EXPECT_EQ(Output(request), fmt::format("{0}/apply_patch\n{0}/applypatch\n", Path()));
}

// Without ripgrep the link leads nowhere, and a shell searches the rest of PATH.
TEST_F(CommandPathTest, LeadsToTheSystemsRipgrep) {
  const std::string found = Output(Shell("p", "command -v rg; echo end"));
  if (fs::exists("/usr/bin/rg")) EXPECT_EQ(found, Path() + "/rg\nend\n");
  if (!fs::exists("/usr/bin/rg")) EXPECT_THAT(found, Not(HasSubstr(Path())));
  EXPECT_EQ(fs::read_symlink(Path() + "/rg"), "/usr/bin/rg");
}

TEST_F(CommandPathTest, IsFoundInsideASandbox) {
  workspace_.Write("a", "old\n");
  EXPECT_THAT(Output(Inside("p", kPatch)), StartsWith("Success. Updated the following files:\nM a\nnew\n"));
  EXPECT_EQ(Contents(workspace_.path() + "/a"), "new\n");
  workspace_.Write("a", "old\n");
  const std::string refused = Output(InSandbox(Shell("q", std::string(kPatch) + " 2>&1; true"), ReadOnly()));
  EXPECT_THAT(refused, AnyOf(HasSubstr("Read-only file system"), HasSubstr("Permission denied")));
  EXPECT_EQ(Contents(workspace_.path() + "/a"), "old\n");
}

// Under a policy that hides the directory, a shell searches the rest of PATH.
TEST_F(CommandPathTest, IsPassedOverWhereItCannotBeRead) {
  const std::string minimal = Managed(PlaceEntry("minimal", "read") + "," + PlaceEntry("project_roots", "write"));
  const std::string found = Output(InSandbox(Shell("p", "command -v apply_patch; cat /dev/null && echo ran"), minimal));
  EXPECT_EQ(found, Path().starts_with("/usr/") ? Path() + "/apply_patch\nran\n" : "ran\n");
}

TEST_F(CommandPathTest, IsNotOpenedByAnyPolicy) {
  const std::string opened = Managed(PlaceEntry("root", "read") + "," + PathEntry(Path(), "write"));
  const StartRequest request = InSandbox(Shell("p", "true"), opened);
  const Message answer = client_.Call("process/start", request.Params());
  EXPECT_THAT(answer.Text("error.message"), HasSubstr("holdfast's own programs"));
}

}  // namespace
}  // namespace holdfast::support
