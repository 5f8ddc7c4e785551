// Tests of the input and the output of processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "support/rpc_client.h"
#include "support/server_process.h"

namespace holdfast::support {
namespace {

using namespace std::chrono_literals;

class ProcessIoTest : public testing::Test {
 protected:
  std::string Status(std::string_view id, std::string_view bytes, std::string_view more = "") {
    return client_.Call("process/write", WriteParams(id, bytes, more)).Text("result.status");
  }

  ServerProcess server_ = ServerProcess::Start();
  RpcClient client_ = RpcClient::Ready(server_.url());
};

// Returns "0\n1\n2\n...", a text in which no two places look alike.
std::string Numbers(size_t bytes) {
  std::string text;
  for (int i = 0; text.size() < bytes; ++i) text += std::to_string(i) + "\n";
  return text;
}

TEST_F(ProcessIoTest, PassesEveryByteOnInOrder) {
  const std::string text = Numbers(3u << 20);
  client_.Start({.id = "cat", .argv = {"cat"}, .pipe_stdin = true});
  std::vector<int64_t> ids;
  for (size_t at = 0; at < text.size(); at += 50'000) {
    ids.push_back(client_.Send("process/write", WriteParams("cat", text.substr(at, 50'000))));
  }
  ids.push_back(client_.Send("process/closeStdin", IdParams("cat")));
  for (const int64_t id : ids) EXPECT_TRUE(client_.Await(id).Has("result"));
  EXPECT_TRUE(client_.WaitForClosed("cat", 30s) == text);
}

TEST_F(ProcessIoTest, PassesEveryByteValue) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  client_.Start({.id = "cat", .argv = {"cat"}, .pipe_stdin = true});
  client_.Write("cat", bytes);
  client_.CloseStdin("cat");
  EXPECT_EQ(client_.WaitForClosed("cat"), bytes);
}

TEST_F(ProcessIoTest, WritesARepeatedWriteIdOnce) {
  client_.Start({.id = "cat", .argv = {"cat"}, .pipe_stdin = true});
  client_.Start({.id = "dog", .argv = {"cat"}, .pipe_stdin = true});
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(Status("cat", "a", R"("writeId":"1")"), "accepted");
    EXPECT_EQ(Status("cat", "b", R"("writeId":"2")"), "accepted");
    EXPECT_EQ(Status("cat", "c"), "accepted");
  }
  EXPECT_EQ(Status("dog", "other process", R"("writeId":"1")"), "accepted");
  for (const char* id : {"cat", "dog"}) client_.CloseStdin(id);
  EXPECT_EQ(client_.WaitForClosed("cat"), "abccc");
  EXPECT_EQ(client_.WaitForClosed("dog"), "other process");
}

TEST_F(ProcessIoTest, RemembersTheLast4096WriteIds) {
  client_.Start({.id = "cat", .argv = {"cat"}, .pipe_stdin = true});
  const auto write = [&](int id) {
    return client_.Send("process/write", WriteParams("cat", "x", R"("writeId":")" + std::to_string(id) + '"'));
  };
  int64_t last = 0;
  for (int id = 0; id < 4097; ++id) last = write(id);  // pushes 0 out
  client_.Await(last);
  client_.Await(write(1));
  client_.Await(write(0));
  client_.CloseStdin("cat");
  EXPECT_EQ(client_.WaitForClosed("cat").size(), 4098u);
}

TEST_F(ProcessIoTest, AProcessThatDoesNotReadStallsItsOwnWritesOnly) {
  client_.Start(Shell("deaf", "sleep 1000", Stdin::kPipe));
  client_.Start({.id = "cat", .argv = {"cat"}, .pipe_stdin = true});
  const std::string block(256u << 10, 'x');
  std::vector<int64_t> writes;
  for (int i = 0; i < 12; ++i) writes.push_back(client_.Send("process/write", WriteParams("deaf", block)));
  client_.Write("cat", "quick\n");
  EXPECT_EQ(client_.WaitForOutput("cat", "\n"), "quick\n");
  EXPECT_FALSE(client_.HasAnswer(writes.back())) << "more was queued than the bound allows";
  RpcClient other = RpcClient::Ready(server_.url());
  EXPECT_TRUE(other.Call("process/list").Has("result"));
  client_.Call("process/terminate", IdParams("deaf"));
  for (const int64_t id : writes) EXPECT_EQ(client_.Await(id).Text("result.status"), "accepted");
}

TEST_F(ProcessIoTest, HeldWritesGoOnWhenTheProcessReads) {
  client_.Start(Shell("late", "exec 2>/dev/null; trap 'wc -c; exit' USR1; echo ready; while :; do sleep 0.01; done",
                      Stdin::kPipe));
  client_.WaitForOutput("late", "ready\n");
  const std::string block(256u << 10, 'x');
  std::vector<int64_t> writes;
  for (int i = 0; i < 12; ++i) writes.push_back(client_.Send("process/write", WriteParams("late", block)));
  writes.push_back(client_.Send("process/closeStdin", IdParams("late")));
  client_.Call("process/signal", IdParams("late", R"("signal":"SIGUSR1")"));
  for (const int64_t id : writes) EXPECT_TRUE(client_.Await(id).Has("result"));
  client_.WaitForOutput("late", std::to_string(12 * block.size()));
}

TEST_F(ProcessIoTest, SaysWhyAWriteWentNowhere) {
  EXPECT_EQ(Status("unknown", "x"), "unknownProcess");
  client_.Start(Shell("deaf", "sleep 1000"));
  EXPECT_EQ(Status("deaf", "x"), "stdinClosed");
  client_.Start(Shell("closed", "sleep 1000", Stdin::kPipe));
  client_.CloseStdin("closed");
  EXPECT_EQ(Status("closed", "x"), "stdinClosed");
  client_.Start(Shell("finished", "true", Stdin::kPipe));
  client_.WaitForClosed("finished");
  EXPECT_EQ(Status("finished", "x"), "accepted") << "it vanishes";
}

TEST_F(ProcessIoTest, AProcessThatClosesItsInputDoesNotDisturbTheServer) {
  client_.Start(Shell("p", "exec <&-; echo closed; sleep 1000", Stdin::kPipe));
  client_.WaitForOutput("p", "closed");
  EXPECT_EQ(Status("p", std::string(1u << 20, 'x')), "accepted");
  EXPECT_TRUE(client_.Call("process/terminate", IdParams("p")).Flag("result.running"));
}

TEST_F(ProcessIoTest, EndsTheInputOfATerminal) {
  client_.Start(Terminal("t", "stty -echo; echo ready; cat; echo end"));
  client_.WaitForOutput("t", "ready\r\n");
  client_.Write("t", "line\n");
  client_.CloseStdin("t");
  EXPECT_EQ(client_.WaitForClosed("t"), "ready\r\nline\r\nend\r\n");
}

TEST_F(ProcessIoTest, EndsTheInputOfATerminalInsideALine) {
  client_.Start(Terminal("t", "stty -echo; echo ready; cat; echo end"));
  client_.WaitForOutput("t", "ready\r\n");
  client_.Write("t", "half a line");
  client_.CloseStdin("t");
  EXPECT_EQ(client_.WaitForClosed("t"), "ready\r\nhalf a lineend\r\n");
}

TEST_F(ProcessIoTest, ATerminalTakesInputAfterAnEndOfFile) {
  client_.Start(Terminal("t", "stty -echo; echo ready; cat; echo between; cat"));
  client_.WaitForOutput("t", "ready\r\n");
  client_.CloseStdin("t");
  client_.WaitForOutput("t", "between\r\n");
  client_.Write("t", "more\n");
  client_.CloseStdin("t");
  EXPECT_EQ(client_.WaitForClosed("t"), "ready\r\nbetween\r\nmore\r\n");
}

TEST_F(ProcessIoTest, ATerminalEchoesAndInterrupts) {
  client_.Start(Terminal("t", "trap 'echo caught; exit 3' INT; echo ready; while :; do sleep 0.01; done"));
  client_.WaitForOutput("t", "ready\r\n");
  client_.Write("t", "typed\n");
  client_.WaitForOutput("t", "typed\r\n");
  client_.Write("t", "\x03");
  client_.WaitForOutput("t", "caught\r\n");
  EXPECT_EQ(client_.WaitForExit("t"), 3);
}

TEST_F(ProcessIoTest, ResizesATerminal) {
  client_.Start(Terminal("t", "trap 'stty size' WINCH; echo ready; while :; do sleep 0.01; done"));
  client_.WaitForOutput("t", "ready\r\n");
  EXPECT_TRUE(client_.Call("process/resize", IdParams("t", R"("rows":40,"cols":100)")).Has("result"));
  client_.WaitForOutput("t", "40 100\r\n");
  EXPECT_EQ(client_.Call("process/resize", IdParams("t", R"("rows":40,"cols":65536)")).error_code(), -32602);
}

TEST_F(ProcessIoTest, ResizesNothingWithoutATerminal) {
  client_.Start({.id = "cat", .argv = {"cat"}, .pipe_stdin = true});
  EXPECT_EQ(client_.Call("process/resize", IdParams("cat", R"("rows":40,"cols":100)")).error_code(), -32600);
  EXPECT_EQ(client_.Call("process/resize", IdParams("unknown", R"("rows":40,"cols":100)")).error_code(), -32600);
}

TEST_F(ProcessIoTest, KeepsTheStreamsApart) {
  client_.Start(Shell("p", "for i in 1 2 3 4 5 6 7 8 9; do echo out$i; echo err$i >&2; done"));
  client_.WaitForClosed("p");
  EXPECT_EQ(client_.Output("p", "stdout"), "out1\nout2\nout3\nout4\nout5\nout6\nout7\nout8\nout9\n");
  EXPECT_EQ(client_.Output("p", "stderr"), "err1\nerr2\nerr3\nerr4\nerr5\nerr6\nerr7\nerr8\nerr9\n");
}

TEST_F(ProcessIoTest, TellsAllOutputBeforeTheExit) {
  for (int i = 0; i < 20; ++i) {
    const std::string id = "p" + std::to_string(i);
    client_.Start({.id = id, .argv = {"head", "-c", "300000", "/dev/zero"}});
    EXPECT_EQ(client_.WaitForExit(id), 0);
    EXPECT_EQ(client_.OutputBytes(id), 300'000u);
  }
}

TEST_F(ProcessIoTest, ReadsWithinABudgetAndGoesOnFromThere) {
  client_.Start(Shell("p", "for i in 1 2 3 4 5; do echo $i; sleep 0.05; done; exit 2"));
  client_.WaitForClosed("p");
  std::string all;
  int64_t after = 0;
  for (int reads = 0; reads < 20; ++reads) {
    const Message part =
        client_.Call("process/read", IdParams("p", R"("maxBytes":3,"afterSeq":)" + std::to_string(after)));
    if (part.Size("result.chunks") == 0) break;
    for (size_t i = 0; i < part.Size("result.chunks"); ++i) {
      all += part.Bytes("result.chunks." + std::to_string(i) + ".chunk");
    }
    after = part.Number("result.nextSeq") - 1;
  }
  EXPECT_EQ(all, "1\n2\n3\n4\n5\n");
  const Message end = client_.Call("process/read", IdParams("p", R"("afterSeq":)" + std::to_string(after)));
  EXPECT_EQ(end.Number("result.nextSeq"), after + 3) << "exited and closed are counted";
}

TEST_F(ProcessIoTest, ALongPollEndsWithOutputOrExitOrTime) {
  client_.Start(Shell("p", "read a; echo $a; read b; exit 4", Stdin::kPipe));
  const Message nothing = client_.Call("process/read", IdParams("p", R"("waitMs":30)"));
  EXPECT_EQ(nothing.Size("result.chunks"), 0u);
  EXPECT_FALSE(nothing.Flag("result.exited"));
  const int64_t output = client_.Send("process/read", IdParams("p", R"("waitMs":600000)"));
  client_.Write("p", "one\n");
  EXPECT_EQ(client_.Await(output).Bytes("result.chunks.0.chunk"), "one\n");
  const int64_t exit = client_.Send("process/read", IdParams("p", R"("waitMs":600000,"afterSeq":1)"));
  client_.Write("p", "two\n");
  EXPECT_EQ(client_.Await(exit).Number("result.exitCode"), 4);
}

TEST(ProcessRetentionTest, EvictsTheOldestChunksAndShowsTheGap) {
  ServerProcess server = ServerProcess::Start({"--retained-output-bytes-per-process", "65536"});
  RpcClient client = RpcClient::Ready(server.url());
  client.Start({.id = "p", .argv = {"head", "-c", "1000000", "/dev/zero"}});
  client.WaitForClosed("p");
  EXPECT_EQ(client.OutputBytes("p"), 1'000'000u) << "what is pushed is complete";
  const Message read = client.Call("process/read", IdParams("p"));
  const size_t chunks = read.Size("result.chunks");
  ASSERT_GT(chunks, 0u);
  EXPECT_GT(read.Number("result.chunks.0.seq"), 1);
  size_t bytes = 0;
  for (size_t i = 0; i < chunks; ++i) bytes += read.Bytes("result.chunks." + std::to_string(i) + ".chunk").size();
  EXPECT_LE(bytes, 65'536u);
  EXPECT_EQ(read.Number("result.chunks." + std::to_string(chunks - 1) + ".seq") + 3, read.Number("result.nextSeq"));
}

TEST(ProcessSnapshotTest, KeepsHeadAndTailOfALongStream) {
  ServerProcess server = ServerProcess::Start({"--snapshot-bytes-per-stream", "10000"});
  RpcClient client = RpcClient::Ready(server.url());
  client.Start(Shell("p", "echo short >&2; cat", Stdin::kPipe));
  const std::string text = Numbers(2u << 20);
  const int64_t write = client.Send("process/write", WriteParams("p", text));
  const int64_t close = client.Send("process/closeStdin", IdParams("p"));
  client.Await(write);
  client.Await(close);
  client.WaitForClosed("p", 30s);
  const Message snapshot = client.Call("process/snapshot", IdParams("p"));
  const std::string kept = snapshot.Bytes("result.stdout");
  EXPECT_EQ(kept.size(), 10'000u);
  EXPECT_EQ(kept.substr(0, 5'000), text.substr(0, 5'000));
  EXPECT_EQ(kept.substr(5'000), text.substr(text.size() - 5'000));
  EXPECT_EQ(snapshot.Bytes("result.stderr"), "short\n");
  EXPECT_TRUE(snapshot.Flag("result.truncated"));
  EXPECT_EQ(static_cast<size_t>(snapshot.Number("result.omittedBytes")), text.size() - 10'000);
  EXPECT_FALSE(snapshot.Flag("result.running"));
  EXPECT_EQ(snapshot.Number("result.exitCode"), 0);
}

}  // namespace
}  // namespace holdfast::support
