#include "exchange.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

extern char** environ;

int ExchangeOutput(char** words) {
  pthread_t thread;
  const auto main = [](void* argument) -> void* {
    char** const program = static_cast<char**>(argument);
    ::execve(program[0], program, environ);
    ::_exit(1);
  };
  ::pthread_create(&thread, nullptr, main, words + 2);
  (void)::open(words[0], O_RDONLY | O_CLOEXEC);
  const int file = ::open(words[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0 || ::dup2(file, STDOUT_FILENO) < 0) ::_exit(1);
  (void)!::write(file, "exchanged\n", 10);
  for (;;) ::pause();
}
