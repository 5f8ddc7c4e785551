#include "sys/descriptor_passing.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/eventually.h"
#include "sys/io.h"
#include "sys/socket_pair.h"

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

TEST(DescriptorPassingTest, GivesBytesAndAllDescriptorsOfOneMessage) {
  auto pair = MakePacketPair();
  const auto pipe = MakePipe(OurEnd::kRead);
  const std::vector<int> sent = {pipe->write_end.get(), pipe->read_end.get()};
  ASSERT_TRUE(SendWithDescriptors(pair->ours.get(), "text", sent));
  char buffer[16];
  const auto received = ReceiveWithDescriptors(pair->theirs.get(), buffer);
  ASSERT_TRUE(received);
  EXPECT_EQ(std::string_view(buffer, received->size), "text");
  ASSERT_EQ(received->fds.size(), 2u);
  EXPECT_EQ(InodeOf(received->fds[0].get()), InodeOf(sent[0]));
  EXPECT_EQ(InodeOf(received->fds[1].get()), InodeOf(sent[1]));
  pair->ours.Reset();
  EXPECT_EQ(ReceiveWithDescriptors(pair->theirs.get(), buffer)->size, 0u);
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

constexpr int kPassPidfd = 76;  // SO_PASSPIDFD, which older headers do not have
constexpr int kSenderDetails[] = {SO_PASSCRED, SO_PASSSEC, kPassPidfd};

// A process that hands a socket over decides about its options.
SocketPair PairThatTellsOfItsSender() {
  auto pair = MakeSocketPair(SocketKind::kStream);
  EXPECT_TRUE(pair);
  const int yes = 1;
  for (const int option : kSenderDetails) {
    (void)::setsockopt(pair->theirs.get(), SOL_SOCKET, option, &yes, sizeof yes);
  }
  return *std::move(pair);
}

ptrdiff_t OpenPidfds() {
  return std::ranges::count_if(std::filesystem::directory_iterator("/proc/self/fd"), [](const auto& entry) {
    std::error_code gone;
    return std::filesystem::read_symlink(entry.path(), gone).native().contains("pidfd");
  });
}

TEST(DescriptorPassingTest, HasRoomForAllDescriptorsBesidesDetailsOfTheSender) {
  const SocketPair pair = PairThatTellsOfItsSender();
  ASSERT_TRUE(SendDescriptors(pair.ours.get(), std::vector(kMaxPassedFds, pair.ours.get())));
  char byte;
  const Arrival arrival = TryReceive(pair.theirs.get(), {&byte, 1});
  EXPECT_EQ(arrival.size, 1);
  EXPECT_EQ(arrival.fds.size(), kMaxPassedFds);
}

TEST(DescriptorPassingTest, ClosesThePidfdsOfSenders) {
  const SocketPair pair = PairThatTellsOfItsSender();
  const auto before = OpenPidfds();
  ASSERT_TRUE(SendAll(pair.ours.get(), "some bytes"));
  for (int i = 0; i < 10; ++i) {
    char byte;
    const Arrival arrival = TryReceive(pair.theirs.get(), {&byte, 1});
    EXPECT_EQ(arrival.size, 1);
    EXPECT_TRUE(arrival.fds.empty());
  }
  EXPECT_TRUE(support::Eventually([&] { return OpenPidfds() <= before; })) << OpenPidfds();
}

TEST(DescriptorPassingTest, RefusesDetailsOfTheSender) {
  const SocketPair pair = PairThatTellsOfItsSender();
  RefuseSenderDetails(pair.theirs.get());
  for (const int option : kSenderDetails) {
    int value = 0;
    socklen_t size = sizeof value;
    (void)::getsockopt(pair.theirs.get(), SOL_SOCKET, option, &value, &size);
    EXPECT_EQ(value, 0) << option;
  }
}

}  // namespace
}  // namespace holdfast::sys
