#include "sys/foreign_fd.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <vector>

#include <gtest/gtest.h>

#include "support/eventually.h"
#include "support/lingering_peer.h"
#include "support/restricted_child.h"
#include "sys/file_limit.h"
#include "sys/io.h"
#include "sys/socket_pair.h"

namespace holdfast::sys {
namespace {

using support::InQueue;
using support::kPromptness;
using support::TimeOf;

bool IsClosed(int fd) { return ::fcntl(fd, F_GETFD) < 0; }

// Refuses pidfd_getfd, as containers may.
void ForbidTaking() {
  if (!support::RefuseCalls({{SYS_pidfd_getfd, EPERM}})) ::_exit(90);
}

bool IsLastCloseSeen(int peer) {
  pollfd end = {.fd = peer, .events = POLLIN, .revents = 0};
  return ::poll(&end, 1, static_cast<int>(std::chrono::milliseconds(kPromptness).count())) == 1;
}

// The children of these tests are executed anew, so that they have no closer yet.
class ForeignFdDeathTest : public testing::Test {
 protected:
  ForeignFdDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST(ForeignFdTest, ClosesASocketThatLingersWithoutAWait) {
  const support::LingeringPeer peer;
  ForeignFd socket = peer.Connect();
  const int number = socket.get();
  EXPECT_LT(TimeOf([&] { socket.Reset(); }), kPromptness);
  EXPECT_FALSE(socket.is_open());
  EXPECT_LT(TimeOf([&] { EXPECT_TRUE(support::Eventually([&] { return IsClosed(number); })); }), kPromptness);
}

TEST(ForeignFdTest, ClosesASocketWhoseQueueHasOneThatLingersWithoutAWait) {
  const support::LingeringPeer peer;
  ForeignFd socket = InQueue(InQueue(peer.Connect()));
  const int number = socket.get();
  EXPECT_LT(TimeOf([&] { socket.Reset(); }), kPromptness);
  EXPECT_LT(TimeOf([&] { EXPECT_TRUE(support::Eventually([&] { return IsClosed(number); })); }), kPromptness);
}

TEST(ForeignFdTest, IsNotHeldUpByEarlierSocketsThatLinger) {
  const support::LingeringPeer peer;
  std::vector<ForeignFd> sockets;
  for (int i = 0; i < 20; ++i) {
    sockets.emplace_back(peer.Connect());
    sockets.emplace_back(InQueue(peer.Connect()));
  }
  auto pair = MakeSocketPair(SocketKind::kStream);
  ASSERT_TRUE(pair);
  sockets.emplace_back(std::move(pair->theirs));
  EXPECT_LT(TimeOf([&] { sockets.clear(); }), kPromptness);
  EXPECT_TRUE(IsLastCloseSeen(pair->ours.get()));
}

TEST(ForeignFdTest, ClosesWhatItIsAssignedOver) {
  auto pair = MakeSocketPair(SocketKind::kStream);
  ASSERT_TRUE(pair);
  ForeignFd fd = std::move(pair->theirs);
  fd = OwnedFd(::dup(pair->ours.get()));
  EXPECT_TRUE(IsLastCloseSeen(fd.get()));
}

TEST(ForeignFdTest, ClosesAFile) {
  ForeignFd file = *OpenDevNull();
  const int number = file.get();
  file.Reset();
  EXPECT_TRUE(support::Eventually([&] { return IsClosed(number); }));
}

// The socket in the queue lingers, and so blocks the closer. A file that waits behind it is not closed by the thread
// that has dropped it.
int DropBehindOneThatBlocks() {
  const support::LingeringPeer peer;
  ForbidTaking();
  ForeignFd(InQueue(peer.Connect())).Reset();
  ForeignFd file = *OpenDevNull();
  const int number = file.get();
  file.Reset();
  return IsClosed(number) ? 1 : 0;
}

// The last close of an epoll with many items, for example, takes more than a second.
TEST_F(ForeignFdDeathTest, ClosesNothingOnTheThreadThatDropsIt) {
  EXPECT_EXIT(::_exit(DropBehindOneThatBlocks()), testing::ExitedWithCode(0), "");
}

int DropWithoutTaking() {
  const support::LingeringPeer peer;
  ForbidTaking();
  ForeignFd socket = peer.Connect();
  const int number = socket.get();
  const bool is_prompt = TimeOf([&] { socket.Reset(); }) < kPromptness;
  return is_prompt && support::Eventually([&] { return IsClosed(number); }) ? 0 : 1;
}

TEST_F(ForeignFdDeathTest, DoesNotWaitWhereDescriptorsCannotBeTaken) {
  EXPECT_EXIT(::_exit(DropWithoutTaking()), testing::ExitedWithCode(0), "");
}

// The socket in the queue lingers, and so blocks the closer.
int FillTheRoom() {
  const support::LingeringPeer peer;
  const FdReserve reserve;
  ForbidTaking();
  const OwnedFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ForeignFd(InQueue(peer.Connect())).Reset();
  if (!HasRoomForForeignFds()) return 1;
  for (int i = 0; i < 4200; ++i) ForeignFd(OwnedFd(::dup(socket.get()))).Reset();
  return HasRoomForForeignFds() ? 2 : 0;
}

TEST_F(ForeignFdDeathTest, TellsThatThereIsNoRoomWhenManySocketsWait) {
  rlimit limit;
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  if (limit.rlim_max < 5000) GTEST_SKIP() << "not enough descriptors";
  EXPECT_EXIT(::_exit(FillTheRoom()), testing::ExitedWithCode(0), "");
}

// Returns 0 if there is room until half of all descriptors are foreign, and again when they are closed.
int HoldHalf() {
  const rlimit few = {.rlim_cur = 200, .rlim_max = 200};
  if (::setrlimit(RLIMIT_NOFILE, &few) < 0) return 1;
  std::vector<ForeignFd> held;
  for (int i = 0; i < 99; ++i) held.emplace_back(*OpenDevNull());
  if (!HasRoomForForeignFds()) return 2;
  held.emplace_back(*OpenDevNull());
  if (HasRoomForForeignFds()) return 3;
  std::vector<ForeignFd> moved = std::move(held);
  if (HasRoomForForeignFds()) return 4;
  moved.clear();
  return support::Eventually(HasRoomForForeignFds) ? 0 : 5;
}

TEST_F(ForeignFdDeathTest, LeavesHalfOfAllDescriptorsToThisProcess) {
  EXPECT_EXIT(::_exit(HoldHalf()), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace holdfast::sys
