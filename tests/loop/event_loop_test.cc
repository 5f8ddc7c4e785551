#include "loop/event_loop.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/owned_fd.h"

namespace holdfast::loop {
namespace {

using std::chrono::milliseconds;

struct Pair {
  OwnedFd a, b;
};

Pair MakePair() {
  int fds[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
  return {OwnedFd(fds[0]), OwnedFd(fds[1])};
}

void Put(int fd) { EXPECT_EQ(::write(fd, "x", 1), 1); }

TEST(EventLoopTest, RunsPostedCallbacksInOrder) {
  EventLoop loop;
  std::vector<int> order;
  loop.Post([&] { order.push_back(1); });
  loop.Post([&] { order.push_back(2); });
  loop.Post([&] { loop.Stop(); });
  loop.Run();
  EXPECT_EQ(order, (std::vector{1, 2}));
}

TEST(EventLoopTest, RunsWhatACallbackPostsAfterWhatWasReadyBefore) {
  EventLoop loop;
  std::vector<int> order;
  loop.Post([&] {
    loop.Post([&] {
      order.push_back(2);
      loop.Stop();
    });
  });
  loop.Post([&] { order.push_back(1); });
  loop.Run();
  EXPECT_EQ(order, (std::vector{1, 2}));
}

TEST(EventLoopTest, KeepsAStopThatComesBeforeRun) {
  EventLoop loop;
  bool ran = false;
  loop.Stop();
  loop.Post([&] { ran = true; });
  loop.Run();
  EXPECT_FALSE(ran);
}

TEST(EventLoopTest, RunsAgainAfterStop) {
  EventLoop loop;
  int runs = 0;
  for (int i = 0; i < 2; ++i) {
    loop.Post([&] {
      ++runs;
      loop.Stop();
    });
    loop.Run();
  }
  EXPECT_EQ(runs, 2);
}

TEST(EventLoopTest, TakesPostsFromAnotherThreadWhileItWaits) {
  EventLoop loop;
  std::thread other([&] { loop.Post([&] { loop.Stop(); }); });
  loop.Run();
  other.join();
}

TEST(FdWatchTest, CallsOncePerWatch) {
  EventLoop loop;
  const Pair pair = MakePair();
  int calls = 0;
  FdWatch watch(loop, pair.a.get(), [&] { ++calls; });
  Timer end(loop, [&] { loop.Stop(); });
  Put(pair.b.get());
  watch.WatchReadable();
  end.Start(milliseconds(20));
  loop.Run();
  EXPECT_EQ(calls, 1);
}

TEST(FdWatchTest, CallsAgainForBytesThatWereNotRead) {
  EventLoop loop;
  const Pair pair = MakePair();
  int calls = 0;
  std::optional<FdWatch> watch;
  watch.emplace(loop, pair.a.get(), [&] { ++calls == 3 ? loop.Stop() : watch->WatchReadable(); });
  Put(pair.b.get());
  watch->WatchReadable();
  loop.Run();
  EXPECT_EQ(calls, 3);
}

TEST(FdWatchTest, TellsWhenTheDescriptorTakesBytesAgain) {
  EventLoop loop;
  const Pair pair = MakePair();
  const std::vector<char> filling(64u << 10);
  while (::write(pair.a.get(), filling.data(), filling.size()) > 0) continue;
  bool writable = false;
  FdWatch watch(loop, pair.a.get(), {}, [&] {
    writable = true;
    loop.Stop();
  });
  watch.WatchWritable();
  loop.Post([&] {
    EXPECT_FALSE(writable);
    std::vector<char> sink(1u << 20);
    while (::read(pair.b.get(), sink.data(), sink.size()) > 0) continue;
  });
  loop.Run();
  EXPECT_TRUE(writable);
}

// Both descriptors are ready in the same turn of the loop, so the callback of the second watch is already queued when
// the first one destroys that watch.
TEST(FdWatchTest, CallsNothingAfterItsDestructor) {
  EventLoop loop;
  const Pair one = MakePair(), other = MakePair();
  int calls = 0;
  std::unique_ptr<FdWatch> one_watch, other_watch;
  one_watch = std::make_unique<FdWatch>(loop, one.a.get(), [&] {
    ++calls;
    other_watch.reset();
  });
  other_watch = std::make_unique<FdWatch>(loop, other.a.get(), [&] {
    ++calls;
    one_watch.reset();
  });
  Timer end(loop, [&] { loop.Stop(); });
  Put(one.b.get());
  Put(other.b.get());
  one_watch->WatchReadable();
  other_watch->WatchReadable();
  end.Start(milliseconds(10));
  loop.Run();
  EXPECT_EQ(calls, 1);
}

TEST(FdWatchTest, MayBeDestroyedInsideItsCallback) {
  EventLoop loop;
  const Pair pair = MakePair();
  std::unique_ptr<FdWatch> watch;
  auto witness = std::make_shared<int>(7);
  watch = std::make_unique<FdWatch>(loop, pair.a.get(), [&, witness] {
    watch.reset();
    EXPECT_EQ(*witness, 7);
    loop.Stop();
  });
  Put(pair.b.get());
  watch->WatchReadable();
  loop.Run();
}

TEST(FdWatchTest, LeavesTheDescriptorOpenAndFreeForTheNextWatch) {
  EventLoop loop;
  const Pair pair = MakePair();
  {
    const FdWatch first(loop, pair.a.get(), [] {});
  }
  FdWatch second(loop, pair.a.get(), [&] { loop.Stop(); });
  Put(pair.b.get());
  second.WatchReadable();
  loop.Run();
  EXPECT_GE(::fcntl(pair.a.get(), F_GETFD), 0);
}

// epoll refuses such files with EPERM.
TEST(FdWatchTest, TakesFilesAndDevNullForAlwaysReady) {
  for (const char* path : {"/proc/self/exe", "/dev/null"}) {
    EventLoop loop;
    const OwnedFd file(::open(path, O_RDONLY | O_CLOEXEC));
    FdWatch watch(loop, file.get(), [&] { loop.Stop(); });
    watch.WatchReadable();
    loop.Run();
  }
}

TEST(TimerTest, FiresOncePerStart) {
  EventLoop loop;
  int fired = 0;
  Timer timer(loop, [&] { ++fired; });
  Timer end(loop, [&] { loop.Stop(); });
  timer.Start(milliseconds(1));
  end.Start(milliseconds(20));
  loop.Run();
  EXPECT_EQ(fired, 1);
  EXPECT_FALSE(timer.running());
}

TEST(TimerTest, StartWhileRunningMovesTheDeadline) {
  EventLoop loop;
  std::vector<char> order;
  Timer moved(loop, [&] {
    order.push_back('m');
    loop.Stop();
  });
  Timer other(loop, [&] { order.push_back('o'); });
  moved.Start(milliseconds(1));
  other.Start(milliseconds(10));
  moved.Start(milliseconds(30));
  loop.Run();
  EXPECT_EQ(order, (std::vector{'o', 'm'}));
}

TEST(TimerTest, DoesNotFireAfterStop) {
  EventLoop loop;
  Timer stopped(loop, [] { ADD_FAILURE(); });
  Timer end(loop, [&] { loop.Stop(); });
  stopped.Start(milliseconds(1));
  end.Start(milliseconds(10));
  stopped.Stop();
  EXPECT_FALSE(stopped.running());
  loop.Run();
}

// Both timers expire in the same turn of the loop, so the callback of the second is already queued when the first one
// stops it.
TEST(TimerTest, DoesNotFireWhenStoppedInTheTurnOfItsExpiry) {
  EventLoop loop;
  std::unique_ptr<Timer> second;
  Timer first(loop, [&] { second.reset(); });
  second = std::make_unique<Timer>(loop, [] { ADD_FAILURE(); });
  Timer end(loop, [&] { loop.Stop(); });
  first.Start(milliseconds(0));
  second->Start(milliseconds(0));
  end.Start(milliseconds(10));
  loop.Run();
}

TEST(TimerTest, MayStartAgainInsideItsCallback) {
  EventLoop loop;
  int fired = 0;
  std::optional<Timer> timer;
  timer.emplace(loop, [&] { ++fired == 3 ? loop.Stop() : timer->Start(milliseconds(1)); });
  timer->Start(milliseconds(1));
  loop.Run();
  EXPECT_EQ(fired, 3);
}

}  // namespace
}  // namespace holdfast::loop
