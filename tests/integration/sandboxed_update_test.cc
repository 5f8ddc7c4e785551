// Tests of fs/open with the mode update under a sandbox. Each denial is shown beside the same act without a sandbox.
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file_uri.h"
#include "integration/sandboxed_fixture.h"

namespace holdfast::support {
namespace {

class SandboxedUpdateTest : public SandboxedFixture {
 protected:
  std::string MakeFile(const std::string& path, mode_t mode) const {
    std::ofstream(path) << "0123456789";
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  static mode_t ModeOf(const std::string& path) {
    struct stat status{};
    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return status.st_mode & 07777;
  }

  std::string InWorkspace() const {
    return "," + Sandbox(WorkspaceWrite(),
                         fmt::format(R"(,"cwd":"{0}","workspaceRoots":["{0}"])", FileUri(workspace_.path())));
  }
  // Cuts the file to four bytes and gives it these permissions. Returns the code of the answer.
  int64_t Update(const std::string& path, int permissions, const std::string& sandbox) {
    const Message answer = client_.Call(
        "fs/open", fmt::format(R"({{"handleId":"{}","path":"{}","mode":"update","size":4,"permissions":{}{}}})",
                               ++handles_, path, permissions, sandbox));
    return answer.error_code();
  }

  int handles_ = 0;
};

TEST_F(SandboxedUpdateTest, ChangesFilesThatMayBeWrittenAndNoOthers) {
  const std::string mine = MakeFile(In("mine"), 0600), other = MakeFile(Elsewhere("other"), 0600);
  EXPECT_EQ(Update(mine, 0755, InWorkspace()), 0);
  EXPECT_EQ(Contents(mine), "0123");
  EXPECT_EQ(ModeOf(mine), 0755U);

  EXPECT_EQ(Update(other, 0755, InWorkspace()), -32603);
  EXPECT_EQ(Contents(other), "0123456789");
  EXPECT_EQ(ModeOf(other), 0600U);
  EXPECT_EQ(Update(other, 0755, ""), 0);
  EXPECT_EQ(Contents(other), "0123");
  EXPECT_EQ(ModeOf(other), 0755U);
}

TEST_F(SandboxedUpdateTest, WritesBlocksOfAFileThatTheHelperHasOpened) {
  const std::string mine = MakeFile(In("mine"), 0600);
  ASSERT_EQ(Update(mine, 0600, InWorkspace()), 0);
  EXPECT_EQ(client_.Call("fs/writeBlock", R"({"handleId":"1","offset":4,"chunk":"YWI="})").error_code(), 0);
  EXPECT_EQ(Contents(mine), "0123ab");
}

// The server may have the right to change the mode of any file. The file helper sets the mode, and does not have it.
TEST_F(SandboxedUpdateTest, DoesNotSetTheModeOfAFileOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a file of another user";
  const std::string file = MakeFile(In("file"), 0666);
  ASSERT_EQ(::chown(file.c_str(), 1234, 1234), 0);
  EXPECT_EQ(Update(file, 0700, InWorkspace()), -32600);
  EXPECT_EQ(ModeOf(file), 0666U);
  EXPECT_EQ(Update(file, 0700, ""), 0);
  EXPECT_EQ(ModeOf(file), 0700U);
}

}  // namespace
}  // namespace holdfast::support
