#include "sys/socket_pair.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <string_view>

#include <gtest/gtest.h>

namespace holdfast::sys {
namespace {

// Writes "ab" and "c", and returns the result of one read.
std::string_view FirstRead(const SocketPair& pair) {
  static char buffer[8];
  EXPECT_EQ(Write(pair.theirs.get(), "ab", 2), 2);
  EXPECT_EQ(Write(pair.theirs.get(), "c", 1), 1);
  const ssize_t n = Read(pair.ours.get(), buffer, sizeof buffer);
  return {buffer, static_cast<size_t>(n > 0 ? n : 0)};
}

TEST(SocketPairTest, OnlyPacketsKeepTheirBounds) {
  const auto stream = MakeSocketPair(SocketKind::kStream), packets = MakeSocketPair(SocketKind::kPacket);
  ASSERT_TRUE(stream && packets);
  EXPECT_EQ(FirstRead(*stream), "abc");
  EXPECT_EQ(FirstRead(*packets), "ab");
}

TEST(SocketPairTest, BlocksAndIsNotInherited) {
  for (const SocketKind kind : {SocketKind::kStream, SocketKind::kPacket}) {
    const auto pair = MakeSocketPair(kind);
    ASSERT_TRUE(pair);
    for (const int fd : {pair->ours.get(), pair->theirs.get()}) {
      EXPECT_EQ(::fcntl(fd, F_GETFD), FD_CLOEXEC);
      EXPECT_EQ(::fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
    }
  }
}

}  // namespace
}  // namespace holdfast::sys
