#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <future>
#include <thread>

#include "support/test_socket.h"
#include "sys/io.h"
#include "transport/listener.h"
#include "transport/peer.h"

namespace holdfast::transport {
namespace {

using std::chrono::milliseconds;
using support::TestSocket;

constexpr size_t kMiB = 1u << 20;

void Echo(Peer& peer, std::string_view message) { peer.transport()->Send(std::string(message)); }

// A LinesServer serves lines on a pair of descriptors, with its loop on a thread.
class LinesServer {
 public:
  LinesServer(int in_fd, int out_fd, const Limits& limits = {}, Peer::OnMessageHook on_message = Echo)
      : peer_(ServeLines(loop_, in_fd, out_fd, limits), std::move(on_message)) {
    peer_.transport()->Start(peer_);
    thread_ = std::thread([this] { loop_.Run(); });
  }
  ~LinesServer() {
    loop_.Stop();
    thread_.join();
  }

  Peer& peer() { return peer_; }

  void Run(std::function<void()> action) {
    std::promise<void> done;
    loop_.Post([&] {
      action();
      done.set_value();
    });
    done.get_future().wait();
  }

 private:
  loop::EventLoop loop_;
  Peer peer_;
  std::thread thread_;
};

// The tests use one socket for both directions, as inetd would start the server.
class LinesConnectionTest : public ::testing::Test {
 protected:
  LinesConnectionTest() {
    int fds[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    server_end_ = OwnedFd(fds[0]);
    client_ = TestSocket(OwnedFd(fds[1]));
  }

  OwnedFd server_end_;
  TestSocket client_;
};

TEST_F(LinesConnectionTest, EchoesALineCutAtEveryByte) {
  LinesServer server(server_end_.get(), server_end_.get());
  const std::string line = "{\"id\":1,\"method\":\"x\"}\r\n";
  for (size_t cut = 0; cut < line.size(); ++cut) {
    client_.Send(line.substr(0, cut));
    server.Run([] {});
    client_.Send(line.substr(cut));
    ASSERT_EQ(client_.ReceiveSome(), "{\"id\":1,\"method\":\"x\"}\n") << "cut at " << cut;
  }
}

TEST_F(LinesConnectionTest, IgnoresBlankLines) {
  LinesServer server(server_end_.get(), server_end_.get());
  client_.Send("\n  \n\r\n\t\none\n\n");
  EXPECT_EQ(client_.ReceiveSome(), "one\n");
}

TEST_F(LinesConnectionTest, TakesTheLastLineWithoutItsNewlineAndAnswersItBeforeTheEnd) {
  LinesServer server(server_end_.get(), server_end_.get());
  client_.Send("one\ntwo");
  client_.CloseWrite();
  EXPECT_TRUE(server.peer().WaitForClosed());
  EXPECT_EQ(server.peer().WaitForMessage(), "one");
  EXPECT_EQ(server.peer().WaitForMessage(), "two");
  EXPECT_EQ(client_.ReceiveSome(), "one\ntwo\n");
}

TEST_F(LinesConnectionTest, EndsWhenALineIsTooLong) {
  Limits limits;
  limits.max_message_bytes = 10;
  LinesServer server(server_end_.get(), server_end_.get(), limits);
  client_.Send("short\n12345678901");
  EXPECT_TRUE(server.peer().WaitForClosed());
  EXPECT_EQ(server.peer().WaitForMessage(), "short");
  EXPECT_EQ(client_.ReceiveSome(), "short\n");
}

TEST_F(LinesConnectionTest, SendsWhatOneTurnQueuesInOneWrite) {
  LinesServer server(server_end_.get(), server_end_.get());
  server.Run([&] {
    for (int i = 0; i < 3; ++i) server.peer().transport()->Send(std::to_string(i));
    server.peer().transport()->Send(std::string(5'000, 'l'));
  });
  EXPECT_EQ(client_.ReceiveSome(), "0\n1\n2\n" + std::string(5'000, 'l') + "\n");
}

TEST_F(LinesConnectionTest, SendsEverythingThroughPartialWritesAndDrains) {
  LinesServer server(server_end_.get(), server_end_.get());
  const std::string message(7 * kMiB, 'x');
  server.Run([&] {
    server.peer().transport()->Send(message);
    EXPECT_TRUE(server.peer().transport()->congested());
  });
  std::string received;
  while (received.size() < message.size() + 1) {
    const auto some = client_.ReceiveSome();
    ASSERT_TRUE(some && !some->empty());
    received += *some;
  }
  EXPECT_TRUE(received == message + "\n");
  EXPECT_TRUE(server.peer().WaitForDrained());
}

TEST_F(LinesConnectionTest, DeliversNothingWhileReadingIsOff) {
  LinesServer server(server_end_.get(), server_end_.get(), Limits(), [](Peer& peer, std::string_view message) {
    if (message == "stop") peer.transport()->SetReading(rpc::Reading::kOff);
  });
  client_.Send("stop\n1\n2\n");
  EXPECT_EQ(server.peer().WaitForMessage(), "stop");
  for (int turn = 0; turn < 50; ++turn) server.Run([] {});
  EXPECT_EQ(server.peer().messages(), 0u);
  server.Run([&] { server.peer().transport()->SetReading(rpc::Reading::kOn); });
  EXPECT_EQ(server.peer().WaitForMessage(), "1");
  EXPECT_EQ(server.peer().WaitForMessage(), "2");
}

TEST_F(LinesConnectionTest, CloseSendsWhatIsQueuedFirst) {
  LinesServer server(server_end_.get(), server_end_.get());
  server.Run([&] {
    server.peer().transport()->Send("last words");
    server.peer().transport()->Close();
    server.peer().transport()->Send("too late");
  });
  EXPECT_TRUE(server.peer().WaitForClosed());
  EXPECT_EQ(client_.ReceiveSome(), "last words\n");
}

TEST_F(LinesConnectionTest, CutsAPeerThatReadsNothingWhenItCloses) {
  Limits limits;
  limits.close_timeout = milliseconds(50);
  LinesServer server(server_end_.get(), server_end_.get(), limits);
  server.Run([&] {
    server.peer().transport()->Send(std::string(8 * kMiB, 'x'));
    server.peer().transport()->Close();
  });
  EXPECT_TRUE(server.peer().WaitForClosed());
}

TEST_F(LinesConnectionTest, ClosesWhenThePeerVanishesDuringAWrite) {
  LinesServer server(server_end_.get(), server_end_.get());
  server.Run([&] {
    server.peer().transport()->SetReading(rpc::Reading::kOff);
    server.peer().transport()->Send(std::string(8 * kMiB, 'x'));
  });
  client_.Close();
  EXPECT_TRUE(server.peer().WaitForClosed());
}

TEST_F(LinesConnectionTest, ClosesWhenThePeerVanishesWhileReadingIsOff) {
  LinesServer server(server_end_.get(), server_end_.get());
  server.Run([&] { server.peer().transport()->SetReading(rpc::Reading::kOff); });
  client_.Send("unread\n");
  client_.Close();
  EXPECT_TRUE(server.peer().WaitForClosed());
  EXPECT_EQ(server.peer().messages(), 0u);
}

TEST_F(LinesConnectionTest, GivesBorrowedDescriptorsBackAsTheyWere) {
  {
    LinesServer server(server_end_.get(), server_end_.get());
    EXPECT_NE(::fcntl(server_end_.get(), F_GETFL) & O_NONBLOCK, 0);
    client_.CloseWrite();
    EXPECT_TRUE(server.peer().WaitForClosed());
  }
  EXPECT_EQ(::fcntl(server_end_.get(), F_GETFL) & O_NONBLOCK, 0);
}

TEST(LinesOnPipesTest, Echoes) {
  auto in = sys::MakePipe(sys::OurEnd::kRead), out = sys::MakePipe(sys::OurEnd::kWrite);
  ASSERT_TRUE(in && out);
  LinesServer server(in->read_end.get(), out->write_end.get());
  ASSERT_EQ(::write(in->write_end.get(), "one\n", 4), 4);
  char reply[16];
  ASSERT_EQ(::read(out->read_end.get(), reply, sizeof(reply)), 4);
  in->write_end.Reset();
  EXPECT_TRUE(server.peer().WaitForClosed());
}

TEST(LinesOnPipesTest, CloseWhenTheInputEndsWhileReadingIsOff) {
  auto in = sys::MakePipe(sys::OurEnd::kRead), out = sys::MakePipe(sys::OurEnd::kWrite);
  ASSERT_TRUE(in && out);
  LinesServer server(in->read_end.get(), out->write_end.get());
  server.Run([&] { server.peer().transport()->SetReading(rpc::Reading::kOff); });
  ASSERT_EQ(::write(in->write_end.get(), "unread\n", 7), 7);
  in->write_end.Reset();
  EXPECT_TRUE(server.peer().WaitForClosed());
}

// epoll refuses regular files.
TEST(LinesOnFilesTest, ReadsARegularFileToItsEnd) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  const std::string message(100'000, 'm');
  for (int i = 0; i < 10; ++i) std::fprintf(file, "%s\n", message.c_str());
  std::fprintf(file, "end");
  std::rewind(file);
  const OwnedFd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  LinesServer server(::fileno(file), null.get());
  EXPECT_TRUE(server.peer().WaitForClosed());
  for (int i = 0; i < 10; ++i) EXPECT_EQ(server.peer().WaitForMessage(), message);
  EXPECT_EQ(server.peer().WaitForMessage(), "end");
  std::fclose(file);
}

TEST(LinesOnFilesTest, EndsAtOnceOnDevNull) {
  const OwnedFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  LinesServer server(null.get(), null.get());
  EXPECT_TRUE(server.peer().WaitForClosed());
}

}  // namespace
}  // namespace holdfast::transport
