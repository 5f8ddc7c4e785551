#include "sys/foreign_fd.h"

#include <linux/close_range.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <latch>
#include <memory>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "sys/pidfd.h"
#include "sys/thread.h"

namespace holdfast::sys {
namespace {

using namespace std::chrono_literals;

constexpr size_t kMaxWaiting = 4096;
constexpr std::chrono::milliseconds kIdleTime = 1s;  // of the closer, before it ends

// The descriptors that wait for their close. The object is never destroyed, because the closer may run until the
// program ends.
struct Queue {
  Mutex mutex;
  Condition came;
  std::vector<OwnedFd> waiting GUARDED_BY(mutex);
  size_t count GUARDED_BY(mutex) = 0;  // of those that wait, or are being closed
  bool has_closer GUARDED_BY(mutex) = false;
};

Queue& TheQueue() {
  static auto* const queue = new Queue;
  return *queue;
}

std::atomic<size_t> held = 0;  // the descriptors that an object owns, and that do not wait for their close yet

// The limit is read each time, because the program raises it after its start.
size_t MostOpen() {
  rlimit limit;
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur / 2 : 0;
}

// The part that the closer shares with a thread whose end closes descriptors.
struct Farewell {
  std::vector<int> fds;    // the numbers in the table of the program
  bool all_taken = false;  // valid after `taken`
  std::latch taken{1}, only_here{1};
};

// Gives the calling thread a descriptor table with copies of the descriptors and nothing else. Nothing else, because
// the end of the thread closes them all, and they would stay open for as long as one of the closes blocks.
bool TakeAlone(const std::vector<int>& fds) {
  if (::syscall(SYS_close_range, 0U, ~0U, CLOSE_RANGE_UNSHARE) != 0) return false;
  const auto program = OpenPidfd(::getpid());
  if (!program) return false;
  bool all_taken = true;
  for (const int fd : fds) all_taken = TakeFd(program->get(), fd).Release() >= 0 && all_taken;
  return all_taken;
}

void TakeAndEnd(Farewell& farewell) {
  farewell.all_taken = TakeAlone(farewell.fds);
  farewell.taken.count_down();
  farewell.only_here.wait();
}

// Closes a descriptor on the calling thread, which may block all the same: by sockets in the queue of a socket.
void CloseHere(OwnedFd fd) {
  const linger off = {.l_onoff = 0, .l_linger = 0};
  (void)::setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &off, sizeof off);  // fails for all but sockets
}

// While the ending thread has copies, the close of those in the program's own table is not the last one.
void CloseAll(std::vector<OwnedFd> fds) {
  const auto farewell = std::make_shared<Farewell>();
  for (const OwnedFd& fd : fds) farewell->fds.push_back(fd.get());
  const auto started = StartThread("ending-fds", [farewell] { TakeAndEnd(*farewell); });
  if (started) farewell->taken.wait();
  const bool is_quick = started && farewell->all_taken;
  for (OwnedFd& fd : fds) is_quick ? fd.Reset() : CloseHere(std::move(fd));
  farewell->only_here.count_down();
}

// The main function of the closer, the thread that closes descriptors in the table of the program.
void RunCloser() {
  Queue& queue = TheQueue();
  const MutexLock lock(queue.mutex);
  for (;;) {
    queue.came.WaitFor(queue.mutex, kIdleTime, [&] REQUIRES(queue.mutex) { return !queue.waiting.empty(); });
    if (queue.waiting.empty()) break;
    std::vector<OwnedFd> batch = std::exchange(queue.waiting, {});
    const size_t size = batch.size();
    {
      const MutexUnlock unlock(queue.mutex);
      CloseAll(std::move(batch));
    }
    queue.count -= size;
  }
  queue.has_closer = false;
}

// The descriptor waits for the next attempt where no thread can be started.
void CloseElsewhere(OwnedFd fd) {
  Queue& queue = TheQueue();
  const MutexLock lock(queue.mutex);
  queue.waiting.push_back(std::move(fd));
  ++queue.count;
  queue.came.NotifyOne();
  if (!queue.has_closer) queue.has_closer = StartThread("closer", RunCloser).has_value();
}

}  // namespace

ForeignFd::ForeignFd(OwnedFd fd) : fd_(std::move(fd)) {
  if (fd_.is_open()) ++held;
}

void ForeignFd::Reset() {
  if (!fd_.is_open()) return;
  CloseElsewhere(std::move(fd_));
  --held;
}

bool HasRoomForForeignFds() {
  Queue& queue = TheQueue();
  const MutexLock lock(queue.mutex);
  return queue.count < kMaxWaiting && held + queue.count < MostOpen();
}

}  // namespace holdfast::sys
