// Tests of protected names in / that are links, under a policy that opens all of / and denies something else. The test
// has a root directory of its own, with the directories of the machine in it.
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/program.h"
#include "support/sandbox_workspace.h"
#include "support/scratch_dir.h"

namespace holdfast::support {
namespace {

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;
using testing::HasSubstr;
using testing::Not;

// Returns the profile that a client sends when its user approves an escalation: / and the protected names in it may be
// written.
std::string RootWriteBut(const std::string& denied) {
  Strings entries = {PlaceEntry("root", "write"), PathEntry(denied, "deny")};
  for (const char* name : {"/.git", "/.agents", "/.codex", "/.aws"}) entries.push_back(PathEntry(name, "write"));
  return fmt::format(
      R"({{"type":"managed","file_system":{{"type":"restricted","entries":[{}]}},"network":"restricted"}})",
      fmt::join(entries, ","));
}

// Returns bubblewrap's flags for one entry of the root directory.
Strings Kept(const fs::directory_entry& entry) {
  const std::string path = entry.path();
  if (entry.is_symlink()) return {"--symlink", fs::read_symlink(path), path};
  if (path == "/dev") return {"--dev-bind", path, path};
  return {"--bind", path, path};
}

class RootLinkTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (GetParam() == std::string_view("AsRoot") && ::geteuid() != 0) GTEST_SKIP() << "needs root";
    const Outcome trial = InRoot(
        "/nowhere", {"bwrap", "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "true"});
    if (trial.status != 0) GTEST_SKIP() << "no bubblewrap inside of another: " << trial.err;
    fs::create_directory(denied_.path() + "/below");
    for (const char* name : {"key", "below/key"}) denied_.Write(name, "secret");
  }

  // Runs a command in a root directory that has a link /.codex to `target`.
  Outcome InRoot(const std::string& target, const Strings& command) const {
    Strings words = {"bwrap", "--tmpfs", "/"};
    if (GetParam() == std::string_view("AsUser")) {
      words.insert(words.end(), {"--unshare-user", "--uid", "1000", "--gid", "1000"});
    } else {
      words.insert(words.end(), {"--cap-add", "ALL"});
    }
    for (const auto& entry : fs::directory_iterator("/")) {
      if (!entry.is_symlink() && !entry.is_directory()) continue;
      const Strings kept = Kept(entry);
      words.insert(words.end(), kept.begin(), kept.end());
    }
    words.insert(words.end(), {"--symlink", target, "/.codex", "--"});
    words.insert(words.end(), command.begin(), command.end());
    return Program(words).Finish();
  }

  // Runs a script there under the helper.
  Outcome Inside(const std::string& target, const std::string& script) const {
    return InRoot(target, {workspace_.programs() + "/holdfast-linux-sandbox", "--sandbox-policy-cwd", workspace_.path(),
                           "--permission-profile", RootWriteBut(denied_.path()), "--", "/bin/sh", "-c", script});
  }

  SandboxWorkspace workspace_{{.user = ::geteuid(), .means = Means::kSystemBubblewrap}};
  ScratchDir denied_, open_;
};

INSTANTIATE_TEST_SUITE_P(, RootLinkTest, testing::Values("AsRoot", "AsUser"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(RootLinkTest, OpensNothingThatIsDenied) {
  const std::string script =
      fmt::format("cat {0}/key {0}/below/key /.codex/key /.codex; echo x > /.codex/made; echo ran", denied_.path());
  for (const char* below : {"", "/below", "/below/key"}) {
    const Outcome outcome = Inside(denied_.path() + below, script);
    EXPECT_EQ(outcome.out, "ran\n") << outcome.err;
    EXPECT_THAT(outcome.out, Not(HasSubstr("secret"))) << below;
    EXPECT_THAT(outcome.err, HasSubstr("Permission denied"));
  }
  EXPECT_FALSE(fs::exists(denied_.path() + "/made"));
}

TEST_P(RootLinkTest, LeavesOpenWhatNothingDenies) {
  const Outcome outcome = Inside(open_.path(), "echo x > /.codex/made && echo y > /dev/null && echo ran");
  EXPECT_EQ(outcome.out, "ran\n") << outcome.err;
  EXPECT_TRUE(fs::exists(open_.path() + "/made"));
}

// The command may change the link itself, because it is in /, which may be written.
TEST_P(RootLinkTest, DoesNotKeepTheLink) {
  const Outcome outcome = Inside(denied_.path(), "rm /.codex && mkdir /.codex && echo x > /.codex/made && echo ran");
  EXPECT_EQ(outcome.out, "ran\n") << outcome.err;
}

}  // namespace
}  // namespace holdfast::support
