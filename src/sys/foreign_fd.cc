#include "sys/foreign_fd.h"

#include <linux/close_range.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <latch>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "sys/pidfd.h"
#include "sys/thread.h"

namespace holdfast::sys {
namespace {

using namespace std::chrono_literals;

constexpr size_t kMaxWaiting = 4096;
constexpr std::chrono::milliseconds kIdleTime = 1s;  // of the closer, before it ends

// The sockets that wait for their close. The object is never destroyed, because the closer may run until the program
// ends.
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

// The part that the closer shares with a thread whose end closes sockets.
struct Farewell {
  std::vector<int> sockets;  // the numbers in the table of the program
  bool all_taken = false;    // valid after `taken`
  std::latch taken{1}, only_here{1};
};

// Gives the calling thread a descriptor table with copies of the sockets and nothing else. Nothing else, because the
// end of the thread closes them all, and the close of a file on a dead mount would block.
bool TakeAlone(const std::vector<int>& sockets) {
  if (::syscall(SYS_close_range, 0U, ~0U, CLOSE_RANGE_UNSHARE) != 0) return false;
  const auto program = OpenPidfd(::getpid());
  if (!program) return false;
  bool all_taken = true;
  for (const int socket : sockets) all_taken = TakeFd(program->get(), socket).Release() >= 0 && all_taken;
  return all_taken;
}

void TakeAndEnd(Farewell& farewell) {
  farewell.all_taken = TakeAlone(farewell.sockets);
  farewell.taken.count_down();
  farewell.only_here.wait();
}

// Closes a socket on the calling thread, which may block all the same: by sockets in its queue.
void CloseHere(OwnedFd socket) {
  const linger off = {.l_onoff = 0, .l_linger = 0};
  (void)::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &off, sizeof off);
}

// While the ending thread has copies, the close of those in the program's own table is not the last one.
void CloseAll(std::vector<OwnedFd> sockets) {
  const auto farewell = std::make_shared<Farewell>();
  for (const OwnedFd& socket : sockets) farewell->sockets.push_back(socket.get());
  const auto started = StartThread("ending-sockets", [farewell] { TakeAndEnd(*farewell); });
  if (started) farewell->taken.wait();
  const bool is_quick = started && farewell->all_taken;
  for (OwnedFd& socket : sockets) is_quick ? socket.Reset() : CloseHere(std::move(socket));
  farewell->only_here.count_down();
}

// The main function of the closer, the thread that closes sockets in the table of the program.
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

// Where no thread can be started, the socket waits for the next attempt.
void CloseElsewhere(OwnedFd socket) {
  Queue& queue = TheQueue();
  const MutexLock lock(queue.mutex);
  queue.waiting.push_back(std::move(socket));
  ++queue.count;
  queue.came.NotifyOne();
  if (!queue.has_closer) queue.has_closer = StartThread("closer", RunCloser).has_value();
}

// This call never blocks, while fstat may wait for the server of a file system.
bool IsSocket(int fd) {
  int type;
  socklen_t size = sizeof type;
  return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 || errno != ENOTSOCK;
}

}  // namespace

void ForeignFd::Reset() {
  if (!fd_.is_open()) return;
  IsSocket(fd_.get()) ? CloseElsewhere(std::move(fd_)) : fd_.Reset();
}

bool HasRoomForForeignFds() {
  Queue& queue = TheQueue();
  const MutexLock lock(queue.mutex);
  return queue.count < kMaxWaiting;
}

}  // namespace holdfast::sys
