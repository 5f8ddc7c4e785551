#include "sys/thread.h"

#include <pthread.h>

#include <memory>
#include <utility>

#include "sys/signals.h"

namespace holdfast::sys {
namespace {

struct Start {
  const char* name;
  std::move_only_function<void()> main;
};

void* Main(void* argument) {
  const std::unique_ptr<Start> start(static_cast<Start*>(argument));
  (void)::pthread_setname_np(::pthread_self(), start->name);  // the name only helps debugging
  start->main();
  return nullptr;
}

}  // namespace

// The thread inherits the blocked signals.
Result<> StartThread(const char* name, std::move_only_function<void()> main) {
  auto start = std::make_unique<Start>(name, std::move(main));
  const SignalsBlocked blocked;
  pthread_t thread;
  const int error = ::pthread_create(&thread, nullptr, Main, start.get());
  if (error != 0) return FailErrno("pthread_create", name, error);
  (void)start.release();           // Main owns it
  (void)::pthread_detach(thread);  // fails only for a thread that does not exist
  return {};
}

}  // namespace holdfast::sys
