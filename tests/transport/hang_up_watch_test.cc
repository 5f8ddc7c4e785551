#include "transport/hang_up_watch.h"

#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "support/loop_runner.h"
#include "support/test_socket.h"

namespace holdfast::transport {
namespace {

using Sign = HangUpWatch::Sign;
using support::TestSocket;

// A Pair is a socket pair: one end is watched, and the peer holds the other.
struct Pair {
  Pair(loop::EventLoop& loop, Sign sign) {
    int fds[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    ours = OwnedFd(fds[0]);
    peer = TestSocket(OwnedFd(fds[1]));
    watch = std::make_unique<HangUpWatch>(loop, ours.get(), sign, [this] { ++hang_ups; });
  }

  OwnedFd ours;
  TestSocket peer;
  int hang_ups = 0;
  std::unique_ptr<HangUpWatch> watch;
};

class HangUpWatchTest : public ::testing::Test {
 protected:
  Pair& Open(Sign sign) {
    Pair& pair = *pairs_.emplace_back(std::make_unique<Pair>(loop_, sign));
    pair.watch->Start();
    return pair;
  }

  bool RunUntilNoticed(const Pair& pair) {
    return support::RunUntil(loop_, [&] { return pair.hang_ups > 0; });
  }

  // When a watch that was started later notices the end of its peer, every watch that was started before has looked
  // once more.
  bool RunUntilAllHaveLooked() {
    Pair& younger = Open(Sign::kBothSides);
    younger.peer.Close();
    return RunUntilNoticed(younger);
  }

  loop::EventLoop loop_;
  std::vector<std::unique_ptr<Pair>> pairs_;
};

TEST_F(HangUpWatchTest, NoticesAPeerThatClosedBothSides) {
  Pair &either = Open(Sign::kEitherSide), &both = Open(Sign::kBothSides);
  either.peer.Close();
  both.peer.Close();
  EXPECT_TRUE(RunUntilNoticed(either));
  EXPECT_TRUE(RunUntilNoticed(both));
}

TEST_F(HangUpWatchTest, NoticesItBehindBytesThatNobodyReads) {
  Pair &either = Open(Sign::kEitherSide), &both = Open(Sign::kBothSides);
  for (Pair* pair : {&either, &both}) {
    pair->peer.Send("unread");
    pair->peer.Close();
  }
  EXPECT_TRUE(RunUntilNoticed(either));
  EXPECT_TRUE(RunUntilNoticed(both));
  char bytes[16];
  EXPECT_EQ(::read(both.ours.get(), bytes, sizeof bytes), 6) << "the watch took them";
}

TEST_F(HangUpWatchTest, TakesOneClosedSideForAHangUpOnlyWhenToldTo) {
  Pair &either = Open(Sign::kEitherSide), &both = Open(Sign::kBothSides);
  for (Pair* pair : {&either, &both}) {
    pair->peer.Send("unread");
    pair->peer.CloseWrite();
  }
  EXPECT_TRUE(RunUntilNoticed(either));
  ASSERT_TRUE(RunUntilAllHaveLooked());
  EXPECT_EQ(both.hang_ups, 0);
  both.peer.Close();
  EXPECT_TRUE(RunUntilNoticed(both));
}

TEST_F(HangUpWatchTest, IsNotMisledByAPeerThatIsThere) {
  Pair &quiet = Open(Sign::kEitherSide), &busy = Open(Sign::kEitherSide);
  busy.peer.Send("unread");
  ASSERT_TRUE(RunUntilAllHaveLooked());
  EXPECT_EQ(quiet.hang_ups, 0);
  EXPECT_EQ(busy.hang_ups, 0);
  quiet.peer.Close();
  EXPECT_TRUE(RunUntilNoticed(quiet)) << "it looked once only";
}

TEST_F(HangUpWatchTest, LooksNoMoreOnceItIsStoppedAndAgainOnceItIsStarted) {
  Pair& pair = Open(Sign::kEitherSide);
  pair.watch->Stop();
  pair.peer.Close();
  ASSERT_TRUE(RunUntilAllHaveLooked());
  EXPECT_EQ(pair.hang_ups, 0);
  pair.watch->Start();
  EXPECT_TRUE(RunUntilNoticed(pair));
}

// A busy connection switches reading off again and again, which must not delay the look for ever.
TEST_F(HangUpWatchTest, IsNotPutOffByAnotherStart) {
  Pair& pair = Open(Sign::kEitherSide);
  pair.peer.Close();
  EXPECT_TRUE(support::RunUntil(loop_, [&] {
    pair.watch->Start();
    return pair.hang_ups > 0;
  }));
}

}  // namespace
}  // namespace holdfast::transport
