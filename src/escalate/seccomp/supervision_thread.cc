#include "escalate/seccomp/supervision_thread.h"

#include "sys/io.h"
#include "sys/signals.h"
#include "sys/socket_pair.h"

namespace holdfast::escalate {
namespace {

void* Main(void* supervisor) {
  (void)::pthread_setname_np(::pthread_self(), "exec-supervisor");  // the name only helps debugging
  static_cast<Supervisor*>(supervisor)->Run();
  return nullptr;
}

}  // namespace

Result<std::unique_ptr<SupervisionThread>> SupervisionThread::Create(loop::EventLoop& loop, Approver& approver,
                                                                     StartOutside start, SupervisorSettings settings) {
  TRY(auto inbox, Inbox::Create());
  // Each supervision has an image of its own, because a supervised process could change its permissions.
  TRY(StubProgram stub, StubProgram::Create());
  TRY(sys::SocketPair helper, sys::MakeSocketPair(sys::SocketKind::kPacket));
  TRY_VOID(sys::SetBlocking(helper.ours.get(), sys::Blocking::kNo));
  std::unique_ptr<SupervisionThread> supervision(
      new SupervisionThread(loop, approver, std::move(start), std::move(inbox)));
  supervision->helper_socket_ = std::make_shared<const OwnedFd>(std::move(helper.theirs));
  supervision->supervisor_ = std::make_unique<Supervisor>(std::move(settings), std::move(helper.ours), std::move(stub),
                                                          *supervision->inbox_, supervision->post_);
  TRY_VOID(supervision->StartThread());
  return supervision;
}

// No signal of the program is handled on the thread.
Result<> SupervisionThread::StartThread() {
  const sys::SignalsBlocked blocked;
  const int error = ::pthread_create(&thread_, nullptr, Main, supervisor_.get());
  if (error == 0) return {};
  supervisor_.reset();
  return FailErrno("pthread_create", "", error);
}

// The listener closes with the supervisor: every call that waits, and every later one, fails with ENOSYS.
SupervisionThread::~SupervisionThread() {
  if (supervisor_ == nullptr) return;
  inbox_->Close();
  (void)::pthread_join(thread_, nullptr);  // fails only for a thread that does not exist
}

}  // namespace holdfast::escalate
