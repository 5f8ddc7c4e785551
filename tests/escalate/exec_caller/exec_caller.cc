// A program that makes calls of execve as shells do not make them, for tests of the supervisor. Its first argument
// names what it does.
#include <fcntl.h>
#include <linux/limits.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "escalate/stub/protocol.h"
#include "exchange.h"
#include "linger.h"

extern char** environ;

namespace {

using holdfast::escalate::kHelloArgv;
using holdfast::escalate::kHelloEnvp;
using holdfast::escalate::kHelloPath;

int PrintErrno() {
  std::printf("%s\n", ::strerrorname_np(errno));
  return 0;
}

int Execute(char** words) {
  ::execve(words[0], words, environ);
  return PrintErrno();
}

// A thread that is not the first one of its process executes the words.
int FromThread(char** words) {
  pthread_t thread;
  const auto main = [](void* argument) -> void* {
    Execute(static_cast<char**>(argument));
    ::_exit(1);
  };
  ::pthread_create(&thread, nullptr, main, words);
  for (;;) ::pause();
}

// A timer with a handler interrupts the process again and again.
int UnderTimer(char** words, suseconds_t period) {
  std::signal(SIGALRM, [](int) {});
  const itimerval often = {{0, period}, {0, period}};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  return Execute(words);
}

int UnderSlowTimer(char** words) { return UnderTimer(words, 500); }
int UnderFastTimer(char** words) { return UnderTimer(words, 100); }

// A child that shares the memory of its parent executes the words. The parent then looks whether its memory is intact.
int FromVfork(char** words) {
  const std::string before = words[0];
  const pid_t child = ::vfork();
  if (child == 0) {
    ::execve(words[0], words, environ);
    ::_exit(errno);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  std::printf("status %d, memory %s\n", WEXITSTATUS(status), before == words[0] ? "intact" : "changed");
  return 0;
}

// The call by which a stub asks for its control socket.
int Hello(char**) {
  ::syscall(SYS_execve, kHelloPath, kHelloArgv, kHelloEnvp);
  return PrintErrno();
}

// A call such as the one by which a redirected process executes the stub, for every number that a descriptor may have.
int EmptyPath(char**) {
  for (int fd = 3; fd < 16; ++fd) {
    ::syscall(SYS_execveat, fd, "", nullptr, nullptr, AT_EMPTY_PATH);
    if (errno != EBADF) return PrintErrno();
  }
  return PrintErrno();
}

int ByDescriptor(char** words) {
  const int fd = ::open(words[0], O_PATH | O_CLOEXEC);
  ::syscall(SYS_execveat, fd, "", words, environ, AT_EMPTY_PATH);
  return PrintErrno();
}

int ByDirectory(char** words) {
  const std::string path = words[0];
  const int fd = ::open(path.substr(0, path.rfind('/')).c_str(), O_PATH | O_CLOEXEC);
  ::syscall(SYS_execveat, fd, path.substr(path.rfind('/') + 1).c_str(), words, environ, 0);
  return PrintErrno();
}

int ByProcLink(char** words) {
  const int fd = ::open(words[0], O_PATH);
  ::execve(("/proc/self/fd/" + std::to_string(fd)).c_str(), words, environ);
  return PrintErrno();
}

int NotDumpable(char** words) {
  ::prctl(PR_SET_DUMPABLE, 0);
  return Execute(words);
}

int BadAddress(char** words) {
  ::syscall(SYS_execve, words[0], 16, environ);
  return PrintErrno();
}

int WithoutArguments(char** words) {
  ::syscall(SYS_execve, words[0], nullptr, nullptr);
  return PrintErrno();
}

int BadFlags(char** words) {
  ::syscall(SYS_execveat, AT_FDCWD, words[0], words, environ, 1 << 20);
  return PrintErrno();
}

// The words are a number of arguments and the program that gets them.
int ManyArguments(char** words) {
  std::vector<char*> many = {words[1]};
  many.resize(std::strtoul(words[0], nullptr, 10), words[0]);
  many.push_back(nullptr);
  ::execve(words[1], many.data(), environ);
  return PrintErrno();
}

// The word is the length of one argument.
int LongArgument(char** words) {
  std::string argument(std::strtoul(words[0], nullptr, 10), 'x');
  char* const arguments[] = {words[1], argument.data(), nullptr};
  ::execve(words[1], arguments, environ);
  return PrintErrno();
}

// Children of this process execute the first word while a thread replaces the path in the shared memory by the second
// word, and back. The third word is the number of tries. The fourth is the file that is the shared memory, so that the
// test sees it too.
struct Race {
  char* path;
  const char* names[2];
  std::atomic<bool> ends = false;
};

void* Flip(void* argument) {
  auto& race = *static_cast<Race*>(argument);
  for (unsigned turn = 0; !race.ends; ++turn) std::strcpy(race.path, race.names[turn & 1]);
  return nullptr;
}

int FlipPath(char** words) {
  const int file = ::open(words[3], O_RDWR | O_CLOEXEC);
  Race race{.path = static_cast<char*>(::mmap(nullptr, PATH_MAX, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)),
            .names = {words[0], words[1]}};
  std::strcpy(race.path, words[0]);
  pthread_t thread;
  ::pthread_create(&thread, nullptr, Flip, &race);
  for (int tries = std::atoi(words[2]); tries > 0; --tries) {
    const pid_t child = ::fork();
    if (child == 0) {
      char* const arguments[] = {words[0], nullptr};
      ::execve(race.path, arguments, environ);
      ::_exit(77);
    }
    ::waitpid(child, nullptr, 0);
  }
  race.ends = true;
  ::pthread_join(thread, nullptr);
  return 0;
}

// Children of this process execute the first word, a link, while a thread exchanges it with the second one, again and
// again. The third word is the number of tries, the fourth the argument of the programs. Prints how many of the
// children were killed.
struct Exchange {
  const char* links[2];
  std::atomic<bool> ends = false;
};

void* ExchangeLinks(void* argument) {
  auto& exchange = *static_cast<Exchange*>(argument);
  while (!exchange.ends) {
    (void)::renameat2(AT_FDCWD, exchange.links[0], AT_FDCWD, exchange.links[1], RENAME_EXCHANGE);
  }
  return nullptr;
}

int FlipLink(char** words) {
  Exchange exchange{.links = {words[0], words[1]}};
  pthread_t thread;
  ::pthread_create(&thread, nullptr, ExchangeLinks, &exchange);
  int killed = 0;
  for (int tries = std::atoi(words[2]); tries > 0; --tries) {
    const pid_t child = ::fork();
    if (child == 0) {
      char* const arguments[] = {words[0], words[3], nullptr};
      ::execve(words[0], arguments, environ);
      ::_exit(77);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) ++killed;
  }
  exchange.ends = true;
  ::pthread_join(thread, nullptr);
  std::printf("killed %d\n", killed);
  return 0;
}

// A thread of the caller puts the program of the second word under the number that the stub gets, while the caller
// executes the first word. The third word is the number of tries. Prints how many of the processes were killed, how
// many have ended with the status 1, and how many in another way.
struct Replacement {
  int fd;
  std::atomic<bool> ends = false;
};

void* ReplaceDescriptors(void* argument) {
  auto& replacement = *static_cast<Replacement*>(argument);
  while (!replacement.ends) {
    if (::fcntl(replacement.fd + 1, F_GETFD) >= 0) ::dup2(replacement.fd, replacement.fd + 1);
  }
  return nullptr;
}

int ReplaceStub(char** words) {
  int killed = 0, refused = 0, others = 0;
  for (int tries = std::atoi(words[2]); tries > 0; --tries) {
    const pid_t child = ::fork();
    if (child == 0) {
      Replacement replacement{.fd = ::open(words[1], O_RDONLY)};
      pthread_t thread;
      ::pthread_create(&thread, nullptr, ReplaceDescriptors, &replacement);
      char* const arguments[] = {words[0], nullptr};
      ::execve(words[0], arguments, environ);
      ::_exit(77);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ++(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? killed : WEXITSTATUS(status) == 1 ? refused : others);
  }
  std::printf("killed %d refused %d others %d\n", killed, refused, others);
  return 0;
}

// Both threads of the process execute the words at the same time.
int FromTwoThreads(char** words) {
  pthread_t thread;
  const auto main = [](void* argument) -> void* {
    Execute(static_cast<char**>(argument));
    return nullptr;
  };
  ::pthread_create(&thread, nullptr, main, words);
  Execute(words);
  ::pthread_join(thread, nullptr);
  return 1;
}

// A child executes the words with four threads at the same time, again and again. The first word is the number of
// children. Prints how many of them have ended in another way than with the status 1.
int FromManyThreads(char** words) {
  const auto main = [](void* argument) -> void* {
    Execute(static_cast<char**>(argument));
    return nullptr;
  };
  int others = 0;
  for (int rounds = std::atoi(words[0]); rounds > 0; --rounds) {
    const pid_t child = ::fork();
    if (child == 0) {
      pthread_t thread;
      for (int i = 0; i < 3; ++i) ::pthread_create(&thread, nullptr, main, words + 1);
      main(words + 1);
      ::_exit(77);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 1) ++others;
  }
  std::printf("others %d\n", others);
  return 0;
}

// A debugger traces the process that executes the words.
int Traced(char** words) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::raise(SIGSTOP);
    return Execute(words);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ::ptrace(PTRACE_CONT, child, nullptr, nullptr);
  while (::waitpid(child, &status, 0) == child && WIFSTOPPED(status)) ::ptrace(PTRACE_CONT, child, nullptr, nullptr);
  return WEXITSTATUS(status);
}

// The process stops itself while the supervisor thinks about its call: another process sends SIGSTOP all the time, and
// SIGCONT a little later.
int UnderStops(char** words) {
  const pid_t target = ::fork();
  if (target == 0) return Execute(words);
  int status = 0;
  while (::waitpid(target, &status, WNOHANG) == 0) {
    ::kill(target, SIGSTOP);
    ::usleep(500);
    ::kill(target, SIGCONT);
    ::usleep(10'000);
  }
  return WEXITSTATUS(status);
}

// Executes the words in a process that has the same descriptors as this one, which so keeps the stub's image, and
// returns the number of the image.
int KeepStub(char** words) {
  const int free = ::dup(0);
  ::close(free);
  const auto child = static_cast<pid_t>(::syscall(SYS_clone, CLONE_FILES | SIGCHLD, nullptr, nullptr, nullptr, 0));
  if (child == 0) ::_exit(Execute(words));
  ::waitpid(child, nullptr, 0);
  return free;
}

// Makes the image of the stub readable, after an execution and with the owner's right to do so. Prints the permissions
// of the image that the next execution gets.
int ChangeStub(char** words) {
  const int image = KeepStub(words);
  if (::fchmod(image, 0555) != 0) return PrintErrno();
  struct stat status;
  if (::fstat(KeepStub(words), &status) != 0) return PrintErrno();
  std::printf("%o\n", static_cast<unsigned>(status.st_mode & 0777));
  return 0;
}

// A process has a second thread that this process traces and does not let end. The process executes the words, and
// stays in that call for ever.
int HeldByThread(char** words) {
  int numbers[2], go[2];
  if (::pipe(numbers) != 0 || ::pipe(go) != 0) return PrintErrno();
  if (::fork() == 0) {
    pthread_t thread;
    const auto main = [](void* out) -> void* {
      const pid_t number = ::gettid();
      (void)!::write(*static_cast<int*>(out), &number, sizeof number);
      for (;;) ::pause();
    };
    ::pthread_create(&thread, nullptr, main, &numbers[1]);
    char byte;
    (void)!::read(go[0], &byte, 1);
    return Execute(words);
  }
  pid_t thread = 0;
  (void)!::read(numbers[0], &thread, sizeof thread);
  if (::ptrace(PTRACE_SEIZE, thread, nullptr, PTRACE_O_TRACEEXIT) != 0) return PrintErrno();
  (void)!::write(go[1], "", 1);
  ::waitpid(thread, nullptr, __WALL);
  std::printf("held\n");
  std::fflush(stdout);
  for (;;) ::pause();
}

struct Act {
  std::string_view name;
  int (*function)(char** words);
};

constexpr Act kActs[] = {
    {"plain", Execute},
    {"thread", FromThread},
    {"timer", UnderSlowTimer},
    {"fast-timer", UnderFastTimer},
    {"vfork", FromVfork},
    {"hello", Hello},
    {"empty-path", EmptyPath},
    {"descriptor", ByDescriptor},
    {"directory", ByDirectory},
    {"proc-link", ByProcLink},
    {"not-dumpable", NotDumpable},
    {"bad-address", BadAddress},
    {"without-arguments", WithoutArguments},
    {"bad-flags", BadFlags},
    {"many-arguments", ManyArguments},
    {"long-argument", LongArgument},
    {"flip-path", FlipPath},
    {"flip-link", FlipLink},
    {"replace-stub", ReplaceStub},
    {"two-threads", FromTwoThreads},
    {"many-threads", FromManyThreads},
    {"traced", Traced},
    {"stops", UnderStops},
    {"held-by-thread", HeldByThread},
    {"change-stub", ChangeStub},
    {"linger", WithLingeringSockets},
    {"exchange-output", ExchangeOutput},
};

}  // namespace

int main(int argc, char** argv) {
  for (const Act& act : kActs) {
    if (argc > 1 && act.name == argv[1]) return act.function(argv + 2);
  }
  return 64;
}
