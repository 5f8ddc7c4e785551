// Tests with files of many megabytes: they arrive whole, in pieces that clients accept, and the server does not grow
// with them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <random>
#include <string>

#include <fmt/format.h>

#include "support/contents.h"
#include "support/proc.h"
#include "support/rpc_client.h"
#include "support/server_process.h"
#include "support/web_socket_client.h"

namespace holdfast::support {
namespace {

using namespace std::chrono_literals;

constexpr size_t kMiB = 1u << 20;
constexpr size_t kFileBytes = 100 * kMiB;

std::string At(std::string_view path, std::string_view more = "") {
  return fmt::format(R"({{"path":{}{}{}}})", Quoted(path), more.empty() ? "" : ",", more);
}

// Returns a block whose content depends on its index.
std::string BlockAt(size_t index) {
  static std::mt19937_64 noise;
  static const std::string unlike = [] {
    std::string bytes;
    while (bytes.size() < kMiB) bytes += static_cast<char>(noise());
    return bytes;
  }();
  std::string block = unlike;
  block.replace(0, sizeof index, reinterpret_cast<const char*>(&index), sizeof index);
  return block;
}

std::string MakeFile(const std::string& path, size_t bytes) {
  std::string content;
  content.reserve(bytes);
  for (size_t i = 0; content.size() < bytes; ++i) content += BlockAt(i).substr(0, bytes - content.size());
  std::ofstream(path, std::ios::binary) << content;
  return content;
}

// Resets the peak of the memory that the process has used.
void ForgetPeak(pid_t pid) { std::ofstream("/proc/" + std::to_string(pid) + "/clear_refs") << 5; }

size_t PeakKib(pid_t pid) {
  const std::string status = ReadProcFile(pid, "status").value_or("");
  const size_t at = status.find("VmHWM:");
  return at == std::string::npos ? 0 : std::strtoul(status.c_str() + at + 6, nullptr, 10);
}

ServerProcess StartThrifty() { return ServerProcess::Start({.env = {ThriftySanitizer()}}); }

void ExpectContent(const Message& answer, const std::string& content) {
  ASSERT_TRUE(answer.Has("result")) << answer;
  const std::string bytes = answer.Bytes("result.dataBase64");
  EXPECT_TRUE(bytes == content) << bytes.size() << " bytes instead of " << content.size();
}

TEST(FsLargeTest, ReadsAFileOfAnySizeInBlocksWithoutGrowing) {
  const size_t blocks = IsSanitized() ? 100 : 500;
  const size_t bound_kib = IsSanitized() ? 64u << 10 : 16u << 10;
  TempDir dir;
  const std::string path = dir.Path("file");
  std::ofstream(path).close();
  ASSERT_EQ(::truncate(path.c_str(), static_cast<off_t>(blocks * kMiB)), 0);
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  for (size_t i = 0; i < blocks; i += 10) file.seekp(static_cast<std::streamoff>(i * kMiB)) << BlockAt(i);
  file.close();

  ServerProcess server = StartThrifty();
  RpcClient client = RpcClient::Ready(server.url());
  ASSERT_EQ(client.Call("fs/open", At(path, R"("handleId":"h")")).error_code(), 0);
  ForgetPeak(server.pid());
  const size_t before = ResidentKib(server.pid());
  const auto ask = [&](size_t i) {
    return client.Send("fs/readBlock", fmt::format(R"({{"handleId":"h","offset":{},"len":{}}})", i * kMiB, kMiB));
  };
  constexpr size_t kAhead = 4;
  std::deque<int64_t> asked;
  for (size_t i = 0; i < kAhead; ++i) asked.push_back(ask(i));
  const std::string zeros(kMiB, '\0');
  for (size_t i = 0; i < blocks; ++i) {
    const Message answer = client.Await(asked.front());
    asked.pop_front();
    asked.push_back(ask(i + kAhead));
    ASSERT_FALSE(answer.Flag("result.eof")) << i;
    ASSERT_TRUE(answer.Bytes("result.chunk") == (i % 10 == 0 ? BlockAt(i) : zeros)) << i;
  }
  EXPECT_TRUE(client.Await(asked.front()).Flag("result.eof"));
  EXPECT_LT(PeakKib(server.pid()), before + bound_kib);
}

TEST(FsLargeTest, WritesAFileOfAnySizeInBlocksWithoutGrowing) {
  constexpr size_t kBlocks = 24;
  TempDir dir;
  ServerProcess server = StartThrifty();
  RpcClient client = RpcClient::Ready(server.url());
  ASSERT_EQ(client.Call("fs/open", At(dir.Path("file"), R"("handleId":"h","mode":"replace")")).error_code(), 0);
  ForgetPeak(server.pid());
  const size_t before = ResidentKib(server.pid());
  for (size_t i = 0; i < kBlocks; ++i) {
    ASSERT_EQ(client
                  .Call("fs/writeBlock",
                        fmt::format(R"({{"handleId":"h","offset":{},"chunk":"{}"}})", i * kMiB, Base64(BlockAt(i))))
                  .error_code(),
              0);
  }
  EXPECT_LT(PeakKib(server.pid()), before + (IsSanitized() ? 64u << 10 : 16u << 10));
  EXPECT_EQ(client.Call("fs/close", R"({"handleId":"h"})").error_code(), 0);
  std::ifstream file(dir.Path("file"), std::ios::binary);
  std::string block(kMiB, '\0');
  for (size_t i = 0; i < kBlocks; ++i) {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    EXPECT_TRUE(block == BlockAt(i)) << i;
  }
}

TEST(FsLargeTest, SendsALargeFileInFramesThatClientsTake) {
  TempDir dir;
  const std::string content = MakeFile(dir.Path("file"), kFileBytes + 1);
  ServerProcess server = ServerProcess::Start();
  WebSocketClient client = WebSocketClient::Connect(server.url());
  client.SendText(R"({"id":1,"method":"initialize","params":{"clientName":"integration test"}})");
  client.ReceiveText();
  client.SendText(R"({"method":"initialized"})");
  client.SendText(R"({"id":2,"method":"fs/readFile","params":)" + At(dir.Path("file")) + "}");
  Received received = client.Receive(60s);
  ASSERT_EQ(received.kind, Received::Kind::kText) << received;
  EXPECT_GT(received.fragments, 8u);
  EXPECT_LE(received.largest_frame, 16 * kMiB);
  ExpectContent(Message(std::move(received.payload)), content);
}

TEST(FsLargeTest, SendsALargeFileInOneLine) {
  TempDir dir;
  const std::string content = MakeFile(dir.Path("file"), kFileBytes);
  ServerProcess server = ServerProcess::StartOnStdio();
  RpcClient client(OpenPipes(server.input(), server.output()));
  client.Handshake();
  ExpectContent(client.Await(client.Send("fs/readFile", At(dir.Path("file"))), 60s), content);
}

TEST(FsLargeTest, SendsNoMoreThanTheClientCanTake) {
  TempDir dir;
  MakeFile(dir.Path("file"), 49 * kMiB);
  ServerProcess server = ServerProcess::Start();
  RpcClient codex(OpenChannel(server.url()));
  EXPECT_TRUE(codex.Call("initialize", R"({"clientName":"codex-environment"})").Has("result"));
  codex.Notify("initialized");
  EXPECT_EQ(codex.Call("fs/readFile", At(dir.Path("file"))).error_code(), -32600);
  RpcClient modest = RpcClient::Ready(server.url(), R"("capabilities":{"maxMessageBytes":1000000})");
  EXPECT_EQ(modest.Call("fs/readFile", At(dir.Path("file"))).error_code(), -32600);
  ASSERT_EQ(::truncate(dir.Path("file").c_str(), 700'000), 0);
  const Message answer = modest.Call("fs/readFile", At(dir.Path("file")));
  EXPECT_EQ(answer.Bytes("result.dataBase64").size(), 700'000u);
  EXPECT_LE(answer.text().size(), 1'000'000u);
}

TEST(FsLargeTest, TakesALargeFileInOneMessage) {
  TempDir dir;
  ServerProcess server = ServerProcess::StartOnStdio();
  RpcClient client(OpenPipes(server.input(), server.output()));
  client.Handshake();
  const std::string content = MakeFile(dir.Path("file"), 20 * kMiB);
  const int64_t id =
      client.Send("fs/writeFile", At(dir.Path("copy"), fmt::format(R"("dataBase64":"{}")", Base64(content))));
  EXPECT_EQ(client.Await(id, 60s).error_code(), 0);
  EXPECT_TRUE(Contents(dir.Path("copy")) == content);
}

}  // namespace
}  // namespace holdfast::support
