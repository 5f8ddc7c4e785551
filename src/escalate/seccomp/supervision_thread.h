// SupervisionThread owns the thread of a supervisor, and the errands that the supervisor leaves to the loop.
#pragma once

#include <pthread.h>

#include <memory>
#include <utility>

#include "base/owned_fd.h"
#include "base/result.h"
#include "escalate/seccomp/inbox.h"
#include "escalate/seccomp/loop_errands.h"
#include "escalate/seccomp/supervisor.h"

namespace holdfast::escalate {

class SupervisionThread {
 public:
  static Result<std::unique_ptr<SupervisionThread>> Create(loop::EventLoop& loop, Approver& approver,
                                                           StartOutside start, SupervisorSettings settings);
  // Waits for the end of the thread, which itself never waits for long.
  ~SupervisionThread();
  SupervisionThread(const SupervisionThread&) = delete;
  SupervisionThread& operator=(const SupervisionThread&) = delete;

  // The socket that the listener is passed through.
  const std::shared_ptr<const OwnedFd>& helper_socket() const { return helper_socket_; }

 private:
  SupervisionThread(loop::EventLoop& loop, Approver& approver, StartOutside start, std::unique_ptr<Inbox> inbox)
      : inbox_(std::move(inbox)),
        errands_(std::make_shared<LoopErrands>(approver, std::move(start), *inbox_)),
        post_(loop, errands_) {}

  Result<> StartThread();

  const std::unique_ptr<Inbox> inbox_;
  const std::shared_ptr<LoopErrands> errands_;
  ErrandPost post_;
  std::shared_ptr<const OwnedFd> helper_socket_;
  std::unique_ptr<Supervisor> supervisor_;
  pthread_t thread_ = {};  // runs while supervisor_ is set
};

}  // namespace holdfast::escalate
