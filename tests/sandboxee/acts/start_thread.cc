#include <pthread.h>

#include "sandboxee.h"

int main() {
  pthread_t thread;
  int value = 0;
  const auto body = [](void* argument) -> void* {
    *static_cast<int*>(argument) = 7;
    return nullptr;
  };
  const int error = ::pthread_create(&thread, nullptr, body, &value);
  if (error != 0) return Refused(error);
  ::pthread_join(thread, nullptr);
  return value == 7 ? kDone : kNotTried;
}
