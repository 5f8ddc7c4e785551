// Tests of the fs/* methods of the real server: what the system lets it do, and how it goes on when a limit of the
// system is reached.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/file_uri.h"
#include "support/eventually.h"
#include "support/proc.h"
#include "support/rpc_client.h"
#include "support/server_process.h"
#include "support/small_tmpfs.h"

namespace holdfast::support {
namespace {

std::string At(std::string_view path, std::string_view more = "") {
  return fmt::format(R"({{"path":{}{}{}}})", Quoted(path), more.empty() ? "" : ",", more);
}

std::string Data(std::string_view bytes) { return fmt::format(R"("dataBase64":"{}")", Base64(bytes)); }

std::string FromTo(std::string_view source, std::string_view destination, std::string_view more) {
  return fmt::format(R"({{"sourcePath":{},"destinationPath":{},{}}})", Quoted(source), Quoted(destination), more);
}

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class FsTest : public testing::Test {
 protected:
  std::string MakeFile(std::string_view name, std::string_view text, mode_t mode = 0644) const {
    std::ofstream(dir_.Path(name), std::ios::binary) << text;
    EXPECT_EQ(::chmod(dir_.Path(name).c_str(), mode), 0);
    return dir_.Path(name);
  }

  TempDir dir_;
};

TEST_F(FsTest, ServesFilesBesideProcesses) {
  ServerProcess server = ServerProcess::Start();
  RpcClient client = RpcClient::Ready(server.url());
  const std::string script = dir_.Path("script");
  EXPECT_EQ(client.Call("fs/writeFile", At(script, Data("#!/bin/sh\necho made by the client\n"))).error_code(), 0);
  client.Start({.id = "p", .argv = {"sh", script}});
  EXPECT_EQ(client.WaitForClosed("p"), "made by the client\n");
  client.Start(Shell("q", "echo made by a process > " + dir_.Path("out")));
  client.WaitForClosed("q");
  EXPECT_EQ(client.Call("fs/readFile", At(FileUri(dir_.Path("out")))).Bytes("result.dataBase64"),
            "made by a process\n");
}

TEST_F(FsTest, AnswersManyPipelinedRequestsEachByItsId) {
  ServerProcess server = ServerProcess::Start();
  RpcClient client = RpcClient::Ready(server.url());
  std::vector<int64_t> writes, reads;
  for (int i = 0; i < 300; ++i) {
    const std::string path = dir_.Path(std::to_string(i % 50));
    writes.push_back(client.Send("fs/writeFile", At(path, Data(std::to_string(i)))));
    reads.push_back(client.Send("fs/readFile", At(path)));
  }
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(client.Await(writes[i]).error_code(), 0);
    EXPECT_EQ(client.Await(reads[i]).Bytes("result.dataBase64"), std::to_string(i));
  }
}

// A file without any permission is closed to every user but root, even to its owner.
TEST_F(FsTest, ReportsWhatItsUserMayNotDo) {
  constexpr uid_t kNobody = 65534;
  const ServerOptions options = {.user = ::geteuid() == 0 ? std::optional(kNobody) : std::nullopt};
  const std::string closed = MakeFile("closed", "secret", 0);
  MakeFile("readable", "text", 0444);
  const std::string folder = dir_.Path("folder"), locked = dir_.Path("locked");
  for (const std::string& path : {folder, locked}) ASSERT_EQ(::mkdir(path.c_str(), 0755), 0);
  std::ofstream(folder + "/file") << "text";
  std::ofstream(locked + "/file") << "text";
  ASSERT_EQ(::chmod(locked.c_str(), 0), 0);
  ASSERT_EQ(::chmod(folder.c_str(), 0555), 0);
  ASSERT_EQ(::chmod(dir_.Path().c_str(), 0555), 0);

  ServerProcess server = ServerProcess::Start(options);
  RpcClient client = RpcClient::Ready(server.url());
  EXPECT_EQ(client.Call("fs/readFile", At(dir_.Path("readable"))).Bytes("result.dataBase64"), "text");
  EXPECT_EQ(client.Call("fs/getMetadata", At(closed)).Number("result.size"), 6);
  EXPECT_EQ(client.Call("fs/readDirectory", At(folder)).Size("result.entries"), 1u);

  const std::string walk =
      R"("options":{"maxDepth":9,"maxDirectories":9,"maxEntries":9,"followDirectorySymlinks":false})";
  struct Refusal {
    const char* method;
    std::string params;
  };
  const Refusal refusals[] = {
      {"fs/readFile", At(closed)},
      {"fs/readFile", At(locked + "/file")},
      {"fs/writeFile", At(dir_.Path("readable"), Data("x"))},
      {"fs/writeFile", At(dir_.Path("readable"), Data("x") + R"(,"atomic":true)")},
      {"fs/writeFile", At(dir_.Path("new"), Data("x"))},
      {"fs/writeFile", At(dir_.Path("new"), Data("x") + R"(,"atomic":true)")},
      {"fs/createDirectory", At(dir_.Path("new"))},
      {"fs/createDirectory", At(dir_.Path("new/below"))},
      {"fs/getMetadata", At(locked + "/file")},
      {"fs/canonicalize", At(locked + "/file")},
      {"fs/readDirectory", At(locked)},
      {"fs/remove", At(dir_.Path("readable"))},
      {"fs/remove", At(folder)},
      {"fs/copy", FromTo(closed, "/tmp/holdfast-test-never-made", R"("recursive":false)")},
      {"fs/copy", FromTo(dir_.Path("readable"), dir_.Path("new"), R"("recursive":false)")},
      {"fs/rename", FromTo(dir_.Path("readable"), dir_.Path("new"), R"("replace":true)")},
      {"fs/walk", At(locked + "/below", walk)},
      {"fs/open", At(closed, R"("handleId":"h")")},
      {"fs/open", At(dir_.Path("new"), R"("handleId":"h","mode":"replace")")},
  };
  for (const auto& [method, params] : refusals) {
    const Message answer = client.Call(method, params);
    EXPECT_EQ(answer.error_code(), -32600) << method << " " << params << " " << answer;
    EXPECT_THAT(answer.Text("error.message"), testing::EndsWith("Permission denied")) << method;
  }
  const Message walked = client.Call("fs/walk", At(dir_.Path(), walk));
  EXPECT_EQ(walked.Text("result.errors.0.path"), FileUri(locked));
  EXPECT_FALSE(
      client.Call("fs/watchMissing", fmt::format(R"({{"watchId":1,"missing":[{}]}})", Quoted(locked + "/missing")))
          .Flag("result.watching"));
  EXPECT_EQ(ReadAll(dir_.Path("readable")), "text");
  for (const std::string& path : {dir_.Path(), folder, locked}) ASSERT_EQ(::chmod(path.c_str(), 0755), 0);
}

TEST_F(FsTest, GoesOnWhenTheDiskIsFull) {
  const SmallTmpfs disk(1u << 20);
  if (!disk.why_not().empty()) GTEST_SKIP() << disk.why_not();
  ServerProcess server = ServerProcess::Start();
  RpcClient client = RpcClient::Ready(server.url());
  const std::string file = disk.path() + "/file", filler = disk.path() + "/filler";
  EXPECT_EQ(client.Call("fs/writeFile", At(file, Data("old"))).error_code(), 0);
  const std::string too_much(2u << 20, 'x');
  EXPECT_EQ(client.Call("fs/writeFile", At(file, Data(too_much) + R"(,"atomic":true)")).error_code(), -32603);
  EXPECT_EQ(ReadAll(file), "old");
  EXPECT_EQ(client.Call("fs/writeFile", At(filler, Data(too_much))).error_code(), -32603);
  EXPECT_EQ(client.Call("fs/copy", FromTo(filler, disk.path() + "/copy", R"("recursive":false)")).error_code(), -32603);
  EXPECT_EQ(client.Call("fs/open", At(disk.path() + "/block", R"("handleId":"h","mode":"replace")")).error_code(), 0);
  EXPECT_EQ(client
                .Call("fs/writeBlock", fmt::format(R"({{"handleId":"h","offset":0,"chunk":"{}"}})",
                                                   Base64(too_much.substr(0, 1u << 20))))
                .error_code(),
            -32603);
  EXPECT_EQ(client.Call("fs/remove", At(filler)).error_code(), 0);
  EXPECT_EQ(client.Call("fs/remove", At(disk.path() + "/copy")).error_code(), 0);
  EXPECT_EQ(client.Call("fs/remove", At(disk.path() + "/block")).error_code(), 0);
  EXPECT_EQ(client.Call("fs/close", R"({"handleId":"h"})").error_code(), 0);
  EXPECT_EQ(client.Call("fs/writeFile", At(file, Data("new") + R"(,"atomic":true)")).error_code(), 0);
  EXPECT_EQ(ReadAll(file), "new");
}

TEST_F(FsTest, LeavesNoDescriptorBehindWhenClientsComeAndGo) {
  ServerProcess server = ServerProcess::Start({"--detached-ttl-ms", "0"});
  const std::string file = MakeFile("file", std::string(2u << 20, 'x'));
  const auto visit = [&] {
    RpcClient client = RpcClient::Ready(server.url());
    for (int i = 0; i < 30; ++i) {
      client.Send("fs/open", At(file, fmt::format(R"("handleId":"{}")", i)));
      client.Send("fs/readBlock", fmt::format(R"({{"handleId":"{}","offset":0,"len":100}})", i));
    }
    client.Send("fs/readFile", At(file));
    client.Send("fs/watchMissing", fmt::format(R"({{"watchId":1,"missing":[{}]}})", Quoted(dir_.Path("missing"))));
    const int64_t last = client.Send("fs/open", At(file, R"("handleId":"last")"));
    client.Await(last);
    client.Disconnect();
  };
  visit();
  RpcClient client = RpcClient::Ready(server.url());
  EXPECT_EQ(client.Call("fs/readFile", At(dir_.Path("missing"))).error_code(), -32004);
  size_t before = 0;
  ASSERT_TRUE(Eventually([&] { return std::exchange(before, CountFds(server.pid())) == CountFds(server.pid()); }));
  for (int i = 0; i < 5; ++i) visit();
  EXPECT_TRUE(Eventually([&] { return CountFds(server.pid()) <= before; })) << CountFds(server.pid()) - before;
}

TEST_F(FsTest, LeavesTheOldOrTheNewFileWhenItEndsWhileItWritesAtomically) {
  ServerProcess server = ServerProcess::Start();
  RpcClient client = RpcClient::Ready(server.url());
  const std::string path = MakeFile("file", "old");
  for (int i = 0; i < 5; ++i)
    client.Send("fs/writeFile", At(path, Data(std::string(1u << 20, 'x')) + R"(,"atomic":true)"));
  server.Signal(SIGTERM);
  EXPECT_TRUE(client.WaitForEnd());
  client.Disconnect();
  EXPECT_EQ(server.WaitForExit(), 0) << server.Stderr();
  const std::string content = ReadAll(path);
  EXPECT_TRUE(content == "old" || content == std::string(1u << 20, 'x')) << content.size();
}

}  // namespace
}  // namespace holdfast::support
