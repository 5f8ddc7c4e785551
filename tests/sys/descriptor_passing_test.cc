#include "sys/descriptor_passing.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <vector>

#include <gtest/gtest.h>

#include "sys/io.h"

namespace holdfast::sys {
namespace {

ino_t InodeOf(int fd) {
  struct stat status = {};
  EXPECT_EQ(::fstat(fd, &status), 0);
  return status.st_ino;
}

TEST(DescriptorPassingTest, GivesCopiesInTheirOrder) {
  const auto pair = MakePacketPair();
  const auto pipe = MakePipe(OurEnd::kRead);
  const std::vector<int> sent = {pipe->write_end.get(), pipe->read_end.get(), pair->ours.get()};
  ASSERT_TRUE(SendDescriptors(pair->ours.get(), sent));
  const auto received = ReceiveDescriptors(pair->theirs.get());
  ASSERT_TRUE(received);
  ASSERT_EQ(received->size(), sent.size());
  for (size_t i = 0; i < sent.size(); ++i) {
    EXPECT_NE((*received)[i].get(), sent[i]);
    EXPECT_EQ(InodeOf((*received)[i].get()), InodeOf(sent[i]));
    EXPECT_EQ(::fcntl((*received)[i].get(), F_GETFD), FD_CLOEXEC);
  }
}

TEST(DescriptorPassingTest, TakesAsManyAsTheKernelDoes) {
  const auto pair = MakePacketPair();
  const std::vector<int> sent(kMaxPassedFds, pair->ours.get());
  ASSERT_TRUE(SendDescriptors(pair->ours.get(), sent));
  EXPECT_EQ(ReceiveDescriptors(pair->theirs.get())->size(), kMaxPassedFds);
}

TEST(DescriptorPassingTest, GivesNoneAtTheEnd) {
  auto pair = MakePacketPair();
  pair->ours.Reset();
  const auto received = ReceiveDescriptors(pair->theirs.get());
  ASSERT_TRUE(received);
  EXPECT_TRUE(received->empty());
}

TEST(DescriptorPassingTest, FailsWhenNobodyTakesThem) {
  auto pair = MakePacketPair();
  pair->theirs.Reset();
  EXPECT_FALSE(SendDescriptors(pair->ours.get(), std::vector{pair->ours.get()}));
}

TEST(DescriptorPassingTest, FailsWhenNotAllCanBeOpened) {
  const auto pair = MakePacketPair();
  ASSERT_TRUE(SendDescriptors(pair->ours.get(), std::vector(10, pair->ours.get())));
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const OwnedFd next = *Duplicate(pair->ours.get());
  const rlimit few = {static_cast<rlim_t>(next.get()) + 4, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto received = ReceiveDescriptors(pair->theirs.get());
  ::setrlimit(RLIMIT_NOFILE, &before);
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().kind, ErrorKind::kLimit);
  EXPECT_EQ(Duplicate(pair->ours.get())->get(), next.get() + 1);  // the descriptors that were received are closed
}

}  // namespace
}  // namespace holdfast::sys
