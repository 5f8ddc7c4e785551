// Tests of the channel by which other tests talk to a server. They rely on it to read nothing unless they receive.
#include <sys/socket.h>

#include <future>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "support/channel.h"
#include "support/test_socket.h"

namespace holdfast::support {
namespace {

using namespace std::chrono_literals;

class ChannelTest : public testing::Test {
 protected:
  ChannelTest() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    own_ = OwnedFd(ends[0]);
    server_ = TestSocket(OwnedFd(ends[1]));
    channel_ = OpenPipes(own_.get(), own_.get());
  }

  // Returns whether the socket had room for the bytes.
  bool Offer(std::string_view bytes) const {
    return ::send(server_.fd(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }

  OwnedFd own_;
  TestSocket server_;
  std::unique_ptr<Channel> channel_;
};

TEST_F(ChannelTest, ReturnsOneMessageAtATime) {
  server_.Send("one\ntwo\n");
  EXPECT_EQ(channel_->Receive(kPatience), "one");
  EXPECT_EQ(channel_->Receive(0ms), "two");
  EXPECT_EQ(channel_->Receive(0ms), std::nullopt);
  EXPECT_FALSE(channel_->ended());
}

TEST_F(ChannelTest, ReadsNothingWhileItSends) {
  const std::string line(999, 'x');
  while (Offer(line + "\n")) continue;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(channel_->Send("request"));
  EXPECT_FALSE(Offer(line + "\n"));
  EXPECT_EQ(channel_->Receive(kPatience), line);
  EXPECT_TRUE(Offer(line + "\n"));
}

TEST_F(ChannelTest, SendsTheWholeMessageBeforeItReturns) {
  auto all = std::async(std::launch::async, [this] { return server_.ReceiveAll(); });
  const std::string message(8u << 20, 'x');
  EXPECT_TRUE(channel_->Send(message));
  channel_.reset();
  own_.Reset();
  EXPECT_TRUE(all.get() == message + "\n");
}

TEST_F(ChannelTest, ReturnsWhatCameBeforeTheEnd) {
  server_.Send("one\ntwo\n");
  server_.Close();
  EXPECT_EQ(channel_->Receive(kPatience), "one");
  EXPECT_EQ(channel_->Receive(kPatience), "two");
  EXPECT_EQ(channel_->Receive(kPatience), std::nullopt);
  EXPECT_TRUE(channel_->ended());
  EXPECT_FALSE(channel_->Send("request"));
}

}  // namespace
}  // namespace holdfast::support
