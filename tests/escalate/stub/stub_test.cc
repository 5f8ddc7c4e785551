#include <sys/resource.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include "escalate/stub/stub_fixture.h"
#include "sys/exit_codes.h"
#include "sys/memory_file.h"

namespace holdfast::escalate {
namespace {

class StubTest : public StubFixture {
 protected:
  void Order(StubOrderKind kind, int value = 0, unsigned continue_count = 0) const {
    Send({.kind = kind, .value = value, .size = 0, .continue_count = continue_count});
  }

  // Has the stub execute a program, and lets its execve go on.
  void RunImage(const std::vector<std::string>& strings, unsigned arguments) {
    std::string text;
    for (const std::string& string : strings) (text += string) += '\0';
    const Image header = {.argument_count = arguments,
                          .variable_count = static_cast<unsigned>(strings.size()) - 1 - arguments,
                          .bytes = text.size()};
    const auto file =
        sys::MakeMemoryFile("image", std::string(reinterpret_cast<const char*>(&header), sizeof header) + text);
    ASSERT_TRUE(file);
    const StubOrder order = {.kind = StubOrderKind::kRun, .value = 0, .size = 0, .continue_count = 0};
    const std::string_view bytes(reinterpret_cast<const char*>(&order), sizeof order);
    ASSERT_TRUE(sys::SendWithDescriptor(control_.get(), bytes, file->get()));
    EXPECT_EQ(NextCall().data.nr, __NR_execve);
    LetGo();
  }

  void ExpectExit(int code) {
    const int status = AwaitStatus();
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == code) << status;
  }
};

TEST_F(StubTest, ExitsWithItsOwnCodeIfThereIsNoSupervisor) {
  auto image = sys::MakeExecutableImage("stub", StubImage());
  ASSERT_TRUE(image);
  pid_ = ::fork();
  if (pid_ == 0) {
    const char* argv[] = {"stub", nullptr};
    ::syscall(__NR_execveat, image->get(), "", argv, argv + 1, AT_EMPTY_PATH);
    ::_exit(98);
  }
  ExpectExit(kNoSupervisor);
}

TEST_F(StubTest, ExitsWithItsOwnCodeIfTheSupervisorGoesAway) {
  StartStub();
  control_.Reset();
  ExpectExit(kNoSupervisor);
}

TEST_F(StubTest, ExitsWithItsOwnCodeIfTheSupervisorGoesAwayWhileItStandsIn) {
  StartStub();
  StandIn();
  control_.Reset();
  ExpectExit(kNoSupervisor);
}

TEST_F(StubTest, ExecutesExactlyTheImage) {
  StartStub([] { ::dup2(2, 1); });
  const std::vector<std::string> arguments = {"named", "/proc/self/cmdline", "/proc/self/environ"};
  const std::vector<std::string> variables = {"A=x=y", "malformed", "LATIN=\xe9"};
  std::vector<std::string> strings = {"/bin/cat"};
  strings.insert(strings.end(), arguments.begin(), arguments.end());
  strings.insert(strings.end(), variables.begin(), variables.end());
  RunImage(strings, static_cast<unsigned>(arguments.size()));
  ExpectExit(0);
  std::string expected;
  for (size_t i = 1; i < strings.size(); ++i) (expected += strings[i]) += '\0';
  EXPECT_EQ(Errors(), expected);
}

TEST_F(StubTest, ExitsLikeAShellIfTheImageCannotBeExecuted) {
  StartStub();
  RunImage({"/no/such/program", "x"}, 1);
  ExpectExit(sys::kNotFound);
  EXPECT_EQ(Errors(), "/no/such/program: No such file or directory\n");
}

TEST_F(StubTest, ExitsLikeAShellIfTheImageIsNoProgram) {
  StartStub();
  RunImage({"/etc", "x"}, 1);
  ExpectExit(sys::kCannotExecute);
  EXPECT_EQ(Errors(), "/etc: Permission denied\n");
}

TEST_F(StubTest, WritesTheTextOfARefusal) {
  StartStub();
  const std::string text(kMaxTextBytes, 'n');
  Send({.kind = StubOrderKind::kRefuse, .value = 0, .size = kMaxTextBytes, .continue_count = 0}, text);
  ExpectExit(1);
  EXPECT_EQ(Errors(), text);
}

TEST_F(StubTest, ARefusalThatNobodyReadsEndsTheSame) {
  errors_.Reset();
  StartStub();
  Send({.kind = StubOrderKind::kRefuse, .value = 0, .size = 2, .continue_count = 0}, "no");
  ExpectExit(1);
}

TEST_F(StubTest, TellsTheStateThatItWasExecutedWith) {
  StartStub([] {
    ::umask(027);
    ::signal(SIGHUP, SIG_IGN);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
    (void)::setpriority(PRIO_PROCESS, 0, 5);
  });
  const ProcessState state = StandIn();
  EXPECT_EQ(state.umask, 027u);
  EXPECT_EQ(state.nice, 5);
  EXPECT_EQ(state.ignored_signals & 1UL << (SIGHUP - 1), 1UL << (SIGHUP - 1));
  EXPECT_EQ(state.ignored_signals & 1UL << (SIGTERM - 1), 0u);
  EXPECT_EQ(state.blocked_signals, 1UL << (SIGUSR1 - 1));
}

TEST_F(StubTest, ExitsAsOrdered) {
  StartStub();
  StandIn();
  Order(StubOrderKind::kExit, 42);
  ExpectExit(42);
}

TEST_F(StubTest, WritesTheTextOfAnExit) {
  StartStub();
  StandIn();
  Send({.kind = StubOrderKind::kExit, .value = 126, .size = 4, .continue_count = 0}, "why\n");
  ExpectExit(126);
  EXPECT_EQ(Errors(), "why\n");
}

TEST_F(StubTest, DiesAsOrderedWithoutACoreFile) {
  StartStub([] {
    const rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};
    (void)::setrlimit(RLIMIT_CORE, &unlimited);
    ::signal(SIGSEGV, SIG_IGN);
  });
  StandIn();
  Order(StubOrderKind::kDie, SIGSEGV);
  const int status = AwaitStatus();
  EXPECT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_EQ(WTERMSIG(status), SIGSEGV);
  EXPECT_FALSE(WCOREDUMP(status));
}

TEST_F(StubTest, SendsEverySignalThatItCanCatch) {
  StartStub();
  StandIn();
  for (int signal : {SIGHUP,  SIGINT,  SIGQUIT, SIGABRT, SIGUSR1,  SIGUSR2, SIGPIPE, SIGALRM, SIGTERM,  SIGCONT,
                     SIGTSTP, SIGTTIN, SIGTTOU, SIGURG,  SIGWINCH, SIGIO,   SIGPWR,  32,      SIGRTMIN, SIGRTMAX}) {
    ::kill(pid_, signal);
    EXPECT_EQ(NextSignal(), signal);
  }
  Order(StubOrderKind::kExit);
  ExpectExit(0);
}

TEST_F(StubTest, SendsNoSignalThatIsIgnored) {
  StartStub([] { ::signal(SIGHUP, SIG_IGN); });
  StandIn();
  ::kill(pid_, SIGHUP);
  ::kill(pid_, SIGUSR1);
  EXPECT_EQ(NextSignal(), SIGUSR1);
  Order(StubOrderKind::kExit);
  ExpectExit(0);
  EXPECT_FALSE(Receive());
}

TEST_F(StubTest, SendsASignalThatItsCallerBlockedAfterItIsReady) {
  StartStub([] {
    sigset_t blocked;
    sigfillset(&blocked);
    ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
    ::raise(SIGTERM);
  });
  StandIn();
  EXPECT_EQ(NextSignal(), SIGTERM);
}

TEST_F(StubTest, LosesNoSignalWhileTheSocketIsFull) {
  constexpr int kCount = 2000;
  StartStub();
  StandIn();
  for (int i = 0; i < kCount; ++i) ASSERT_EQ(::sigqueue(pid_, SIGRTMIN, {.sival_int = i}), 0);
  ::kill(pid_, SIGTERM);
  int received = 0, terminations = 0;
  while (received + terminations <= kCount) {
    const int signal = NextSignal();
    ASSERT_NE(signal, 0) << received;
    ++(signal == SIGTERM ? terminations : received);
  }
  EXPECT_EQ(received, kCount);
  EXPECT_EQ(terminations, 1);
}

TEST_F(StubTest, StopsLikeTheCommandOutsideAndHasItContinued) {
  StartStub();
  StandIn();
  for (int signal : {SIGTSTP, SIGSTOP}) {
    const unsigned continues = signal == SIGTSTP ? 0 : 1;
    Order(StubOrderKind::kStop, signal, continues);
    const int status = AwaitStatus();
    ASSERT_TRUE(WIFSTOPPED(status)) << status;
    EXPECT_EQ(WSTOPSIG(status), signal);
    ::kill(pid_, SIGCONT);
    EXPECT_EQ(NextSignal(), SIGCONT);
  }
  ::kill(pid_, SIGTSTP);  // is caught again
  EXPECT_EQ(NextSignal(), SIGTSTP);
}

TEST_F(StubTest, DoesNotStopIfItHasSentASigcontThatTheStopCameBefore) {
  StartStub();
  StandIn();
  ::kill(pid_, SIGTSTP);
  EXPECT_EQ(NextSignal(), SIGTSTP);
  ::kill(pid_, SIGCONT);
  EXPECT_EQ(NextSignal(), SIGCONT);
  Order(StubOrderKind::kStop, SIGTSTP, 0);
  Order(StubOrderKind::kExit, 3);
  ExpectExit(3);
}

TEST_F(StubTest, HasTheCommandOutsideContinuedIfItCannotStopItself) {
  StartStub([] {
    ::setpgid(0, ::getpgid(::getppid()));  // a leader of a group cannot lead a session
    ::setsid();
  });
  StandIn();
  Order(StubOrderKind::kStop, SIGTSTP, 0);
  EXPECT_EQ(NextSignal(), SIGCONT);
  Order(StubOrderKind::kExit, 2);
  ExpectExit(2);
}

TEST_F(StubTest, HasTheCommandOutsideContinuedAlsoIfItIgnoresSigcont) {
  StartStub([] { ::signal(SIGCONT, SIG_IGN); });
  StandIn();
  Order(StubOrderKind::kStop, SIGSTOP, 0);
  ASSERT_TRUE(WIFSTOPPED(AwaitStatus()));
  ::kill(pid_, SIGCONT);
  EXPECT_EQ(NextSignal(), SIGCONT);
}

}  // namespace
}  // namespace holdfast::escalate
