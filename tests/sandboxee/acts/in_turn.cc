// This program is no act itself. It does the acts that its arguments name, each ended by an argument `;`, one after the
// other, because starting a sandbox costs far more than an act. It prints one line per act, with its status, which is
// 128 + N after signal N, and its output.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "sandboxee.h"

static void Do(char** words) {
  int output[2];
  if (::pipe2(output, O_CLOEXEC) < 0) GiveUp("pipe2");
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(output[1], STDOUT_FILENO);
    ::execv(words[0], words);
    ::_exit(kNotTried);
  }
  ::close(output[1]);
  char text[256];
  const ssize_t size = ::read(output[0], text, sizeof text - 1);
  text[size > 0 ? size : 0] = '\0';
  text[std::strcspn(text, "\n")] = '\0';
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(output[0]);
  std::printf("%d %s\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), text);
  std::fflush(stdout);
}

int main(int, char** argv) {
  char** first = argv + 1;
  for (char** word = first; *word != nullptr; ++word) {
    if (std::strcmp(*word, ";") != 0) continue;
    *word = nullptr;
    Do(first);
    first = word + 1;
  }
  return kDone;
}
