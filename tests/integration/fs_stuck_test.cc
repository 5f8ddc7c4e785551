// A file system that does not answer holds up the requests for files on it, and no others.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "support/eventually.h"
#include "support/rpc_client.h"
#include "support/server_process.h"
#include "support/stuck_mount.h"

namespace holdfast::support {
namespace {

using Silence = StuckMount::Silence;

std::string At(std::string_view path, std::string_view more = "") {
  return fmt::format(R"({{"path":{}{}{}}})", Quoted(path), more.empty() ? "" : ",", more);
}

// Returns a server without LeakSanitizer, which stops every thread before it looks for leaks: a thread that waits for a
// file system cannot be stopped.
ServerProcess StartWithoutLeakCheck() {
  const char* options = std::getenv("ASAN_OPTIONS");
  return ServerProcess::Start(
      {.env = {"ASAN_OPTIONS=" + std::string(options != nullptr ? options : "") + ":detect_leaks=0"}});
}

// Returns whether the server has no file of the mount open any more: the threads that had one have begun to close it.
bool IsClosing(const ServerProcess& server, const StuckMount& mount) {
  for (const auto& fd : std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", server.pid()))) {
    std::error_code gone;
    if (std::filesystem::read_symlink(fd, gone).string().starts_with(mount.path())) return false;
  }
  return true;
}

class FsStuckTest : public testing::Test {
 protected:
  // Sends all kinds of requests for files on the mount. None of them is ever answered.
  static std::vector<int64_t> AskForStuck(RpcClient& client, const StuckMount& mount, size_t count) {
    std::vector<int64_t> ids;
    for (size_t i = 0; i < count; ++i) {
      const std::string path = fmt::format("{}/{}", mount.path(), i);
      switch (i % 6) {
        case 0:
          ids.push_back(client.Send("fs/readFile", At(path)));
          break;
        case 1:
          ids.push_back(client.Send("fs/getMetadata", At(path)));
          break;
        case 2:
          ids.push_back(client.Send("fs/writeFile", At(path, R"("dataBase64":"YQ==")")));
          break;
        case 3:
          ids.push_back(client.Send("fs/readDirectory", At(path)));
          break;
        case 4:
          ids.push_back(client.Send("fs/open", At(path, fmt::format(R"("handleId":"stuck {}")", i))));
          break;
        default:
          ids.push_back(client.Send("fs/canonicalize", At(path)));
      }
    }
    return ids;
  }

  void ExpectServesFiles(RpcClient& client) const {
    const std::string path = dir_.Path("file");
    EXPECT_EQ(client.Call("fs/writeFile", At(path, R"("dataBase64":"YQ==")")).error_code(), 0);
    EXPECT_EQ(client.Call("fs/readFile", At(path)).Bytes("result.dataBase64"), "a");
    EXPECT_EQ(client.Call("fs/getMetadata", At(path)).Number("result.size"), 1);
    EXPECT_EQ(client.Call("fs/open", At(path, R"("handleId":"h")")).error_code(), 0);
    EXPECT_TRUE(client.Call("fs/readBlock", R"({"handleId":"h","offset":0,"len":2})").Flag("result.eof"));
    EXPECT_EQ(client.Call("fs/close", R"({"handleId":"h"})").error_code(), 0);
    EXPECT_EQ(client.Call("fs/remove", At(path)).error_code(), 0);
  }

  static void ExpectServesProcesses(RpcClient& client) {
    const std::string id = fmt::format("p{}", client.Call("process/list").Size("result.processes"));
    client.Start(Shell(id, "echo served"));
    EXPECT_EQ(client.WaitForClosed(id), "served\n");
  }

  TempDir dir_;
};

TEST_F(FsStuckTest, ADeadFileSystemHoldsUpNothingElse) {
  StuckMount mount(Silence::kAlways);
  if (!mount.why_not().empty()) GTEST_SKIP() << mount.why_not();
  ServerProcess server = StartWithoutLeakCheck();
  RpcClient client = RpcClient::Ready(server.url()), other = RpcClient::Ready(server.url());
  const std::vector<int64_t> stuck = AskForStuck(client, mount, 30);
  EXPECT_TRUE(other.Call("fs/getMetadata", At(mount.path())).Flag("result.isDirectory"));  // known by heart
  ExpectServesFiles(client);
  ExpectServesProcesses(client);
  ExpectServesFiles(other);
  ExpectServesProcesses(other);
  for (const int64_t id : stuck) EXPECT_FALSE(client.HasAnswer(id)) << id;
  mount.Release();
  for (const int64_t id : stuck) EXPECT_NE(client.Await(id).error_code(), 0);
  ExpectServesFiles(client);
}

TEST_F(FsStuckTest, AClientWithTooMuchOnADeadFileSystemHoldsUpNobodyElse) {
  StuckMount mount(Silence::kAlways);
  if (!mount.why_not().empty()) GTEST_SKIP() << mount.why_not();
  ServerProcess server = StartWithoutLeakCheck();
  RpcClient client = RpcClient::Ready(server.url()), second = RpcClient::Ready(server.url());
  AskForStuck(client, mount, 40);
  AskForStuck(second, mount, 40);
  ExpectServesProcesses(client);
  RpcClient other = RpcClient::Ready(server.url());
  ExpectServesFiles(other);
  ExpectServesProcesses(other);
  client.Disconnect();
  ExpectServesFiles(other);
}

TEST_F(FsStuckTest, ADeadFileSystemDoesNotKeepTheServerFromEnding) {
  StuckMount mount(Silence::kAlways);
  if (!mount.why_not().empty()) GTEST_SKIP() << mount.why_not();
  ServerProcess server = StartWithoutLeakCheck();
  RpcClient client = RpcClient::Ready(server.url());
  AskForStuck(client, mount, 40);
  client.Send("fs/watchMissing", fmt::format(R"({{"watchId":1,"missing":[{}]}})", Quoted(mount.path() + "/missing")));
  ExpectServesProcesses(client);
  server.Signal(SIGTERM);
  EXPECT_TRUE(client.WaitForEnd());
  client.Disconnect();
  EXPECT_EQ(server.WaitForExit(), 0) << server.Stderr();
}

// Network file systems write data when a file is closed, and the close waits for that.
TEST_F(FsStuckTest, AFileThatCannotBeClosedHoldsUpNothingElse) {
  StuckMount mount(Silence::kOnClose);
  if (!mount.why_not().empty()) GTEST_SKIP() << mount.why_not();
  ServerProcess server = StartWithoutLeakCheck();
  RpcClient client = RpcClient::Ready(server.url()), other = RpcClient::Ready(server.url());
  client.Send("fs/readFile", At(mount.file()));
  client.Send("fs/writeFile", At(mount.file(), R"("dataBase64":"YQ==")"));
  ExpectServesFiles(client);
  ASSERT_TRUE(Eventually([&] { return IsClosing(server, mount); }));
  ExpectServesProcesses(other);
  EXPECT_EQ(other.Call("fs/open", At(mount.file(), R"("handleId":"read")")).error_code(), 0);
  EXPECT_EQ(other.Call("fs/readBlock", R"({"handleId":"read","offset":0,"len":9})").Bytes("result.chunk"),
            StuckMount::kContent.substr(0, 9));
  other.Send("fs/close", R"({"handleId":"read"})");
  // A read that fails closes the file too.
  EXPECT_EQ(other.Call("fs/open", At(mount.file(), R"("handleId":"bad")")).error_code(), 0);
  EXPECT_EQ(other.Call("fs/readBlock", R"({"handleId":"bad","offset":9223372036854775807,"len":9})").error_code(),
            -32600);
  ExpectServesFiles(other);
  ASSERT_TRUE(Eventually([&] { return IsClosing(server, mount); }));
  ExpectServesProcesses(client);
  mount.Release();  // a thread that waits for a close cannot even be killed
}

// If the child of a start had a copy of the open file, the start would wait for the close of that copy. A client can
// bring this about by a FUSE mount of its own.
TEST_F(FsStuckTest, AnOpenFileThatCannotBeClosedHoldsUpNoStart) {
  StuckMount mount(Silence::kOnClose);
  if (!mount.why_not().empty()) GTEST_SKIP() << mount.why_not();
  ServerProcess server = StartWithoutLeakCheck();
  RpcClient client = RpcClient::Ready(server.url()), other = RpcClient::Ready(server.url());
  EXPECT_EQ(client.Call("fs/open", At(mount.file(), R"("handleId":"held")")).error_code(), 0);
  ASSERT_FALSE(IsClosing(server, mount));
  ExpectServesProcesses(other);
  ExpectServesProcesses(client);
  EXPECT_FALSE(IsClosing(server, mount));
  mount.Release();
}

TEST_F(FsStuckTest, AClientThatLeavesWithFilesThatCannotBeClosedHoldsUpNobodyElse) {
  StuckMount mount(Silence::kOnClose);
  if (!mount.why_not().empty()) GTEST_SKIP() << mount.why_not();
  ServerProcess server = StartWithoutLeakCheck();
  RpcClient other = RpcClient::Ready(server.url());
  for (const char* last : {"fs/readBlock", "fs/writeBlock", "fs/readFile", "process/list"}) {
    RpcClient client = RpcClient::Ready(server.url());
    for (int i = 0; i < 5; ++i) {
      const std::string more = fmt::format(R"("handleId":"{}","mode":"{}")", i, i % 2 == 0 ? "read" : "replace");
      EXPECT_EQ(client.Call("fs/open", At(mount.file(), more)).error_code(), 0);
    }
    for (int i = 0; i < 5; ++i) {
      client.Send(last, fmt::format(R"({{"handleId":"{}","offset":0,"len":9,"chunk":"YQ==","path":{}}})", i,
                                    Quoted(mount.file())));
    }
    client.Disconnect();
    ExpectServesFiles(other);
    EXPECT_TRUE(other.Call("process/list").Has("result"));
  }
  mount.Release();
  ExpectServesProcesses(other);
}

}  // namespace
}  // namespace holdfast::support
