#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

#include <csignal>
#include <initializer_list>

#include "sandboxee.h"

int main() {
  sigset_t none;
  sigemptyset(&none);
  const int poll = ::epoll_create1(EPOLL_CLOEXEC);
  for (const int fd : {::eventfd(1, EFD_CLOEXEC), ::timerfd_create(CLOCK_MONOTONIC, 0), ::signalfd(-1, &none, 0)}) {
    epoll_event event = {};
    event.events = EPOLLIN;
    if (fd < 0 || ::epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event) < 0) return Refused(errno);
  }
  epoll_event ready;
  return ::epoll_wait(poll, &ready, 1, 0) == 1 ? kDone : Refused(errno);
}
