#include "files/helper/channel.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <string>
#include <thread>

namespace holdfast::files {
namespace {

class ChannelTest : public testing::Test {
 protected:
  ChannelTest() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    a_ = OwnedFd(ends[0]);
    b_ = OwnedFd(ends[1]);
  }

  void Write(std::string_view text) { ASSERT_EQ(::write(a_.get(), text.data(), text.size()), text.size()); }

  OwnedFd a_, b_;
};

TEST_F(ChannelTest, KeepsLinesApart) {
  Write("one\ntwo\nthr");
  Channel channel(b_.get(), 1000);
  EXPECT_EQ((*channel.Receive())->text, "one");
  EXPECT_EQ((*channel.Receive())->text, "two");
  Write("ee\n");
  EXPECT_EQ((*channel.Receive())->text, "three");
}

TEST_F(ChannelTest, TellsTheEndFromAHalfLine) {
  Channel channel(b_.get(), 1000);
  a_.Reset();
  EXPECT_FALSE((*channel.Receive()).has_value());
}

TEST_F(ChannelTest, RefusesAHalfLine) {
  Write("half");
  a_.Reset();
  EXPECT_FALSE(Channel(b_.get(), 1000).Receive());
}

TEST_F(ChannelTest, RefusesALineWithoutAnEnd) {
  Write(std::string(5000, 'x'));
  EXPECT_EQ(Channel(b_.get(), 1000).Receive().error().kind, ErrorKind::kLimit);
}

TEST_F(ChannelTest, PassesAnOpenFileWithItsLine) {
  const OwnedFd file(::open("/proc/self/comm", O_RDONLY | O_CLOEXEC));
  Channel sender(a_.get(), 1000), receiver(b_.get(), 1000);
  ASSERT_TRUE(sender.Send("before"));
  EXPECT_FALSE((*receiver.Receive())->fd.is_open());
  ASSERT_TRUE(sender.Send("with a file", file.get()));
  ASSERT_TRUE(sender.Send("after"));
  const auto line = receiver.Receive();
  EXPECT_EQ((*line)->text, "with a file");
  char text[4] = {};
  EXPECT_GT(::read((*line)->fd.get(), text, sizeof text), 0);
  EXPECT_FALSE((*receiver.Receive())->fd.is_open());
}

TEST_F(ChannelTest, CarriesMoreThanASocketHolds) {
  const std::string text(5 << 20, 'y');
  std::thread sender([&] { EXPECT_TRUE(Channel(a_.get(), 1000).Send(text)); });
  const auto line = Channel(b_.get(), 8 << 20).Receive();
  sender.join();
  EXPECT_EQ((*line)->text, text);
}

TEST_F(ChannelTest, FailsWithoutAPeerAndLives) {
  b_.Reset();
  EXPECT_FALSE(Channel(a_.get(), 1000).Send("x"));
}

}  // namespace
}  // namespace holdfast::files
