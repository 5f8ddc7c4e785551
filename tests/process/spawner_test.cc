#include "process/spawner.h"

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <semaphore>
#include <stop_token>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "process/keeper.h"
#include "process/process_fixture.h"
#include "process/stdio.h"

namespace holdfast::process {
namespace {

class SpawnerTest : public ProcessFixture {
 protected:
  // This owner writes a byte for every process that is gone.
  struct TellingOwner : RecordingOwner {
    explicit TellingOwner(int fd) : told_fd(fd) {}
    void OnGone(Process& process) override {
      RecordingOwner::OnGone(process);
      EXPECT_EQ(::write(told_fd, "g", 1), 1);
    }
    int told_fd;
  };

  // Starts a server in a process of its own, which runs the commands and serves them until it is killed.
  pid_t ForkServer(const std::vector<Command>& commands, const Io& io, int told_fd) {
    const pid_t pid = ::fork();
    if (pid == 0) Serve(commands, io, told_fd);
    return pid;
  }

  [[noreturn]] void Serve(const std::vector<Command>& commands, const Io& io, int told_fd) {
    loop::EventLoop loop;
    auto spawner = Spawner::Create(loop);
    TellingOwner owner(told_fd);
    std::vector<std::unique_ptr<Process>> processes;
    for (Command command : commands) {
      command.env.emplace_back("HOLDFAST_TEST_MARK", mark_);
      processes.push_back(*Process::Start(loop, **spawner, command, io, {}, owner));
    }
    loop.Run();
    ::_exit(0);
  }

  void ExpectNothingSurvivesTheServer(const std::vector<Command>& commands, size_t living, const Io& io = Pipes{}) {
    auto told = sys::MakePipe(sys::OurEnd::kRead);
    ASSERT_TRUE(told);
    const pid_t server = ForkServer(commands, io, told->write_end.get());
    EXPECT_TRUE(RunUntilMarked(living));
    ExpectNothingSurvives(server);
  }

  void ExpectNothingSurvives(pid_t server) {
    ::kill(server, SIGKILL);
    EXPECT_TRUE(RunUntil([&] {
      // Reaps the server, and the processes that become our children when it is gone.
      while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;
      return support::ChildrenOf(::getpid()).empty() && support::LivingWithVariable(Mark()).empty();
    }));
  }
};

TEST_F(SpawnerTest, LeavesNothingWhenTheServerIsKilled) {
  ExpectNothingSurvivesTheServer(
      {Shell("sleep 1000"), Shell("trap '' TERM HUP; sleep 1000"), Shell("setsid sleep 1000 & wait")}, 4);
}

TEST_F(SpawnerTest, LeavesNothingOnTerminalsWhenTheServerIsKilled) {
  ExpectNothingSurvivesTheServer({Shell("trap '' HUP; sleep 1000"), Shell("setsid sleep 1000 & sleep 1000")}, 3,
                                 Terminal{});
}

TEST_F(SpawnerTest, LeavesNoDaemonWhenTheServerIsKilled) {
  ExpectNothingSurvivesTheServer({Shell("(setsid sh -c 'sleep 1000 & exit' >/dev/null 2>&1 &); exit 0")}, 1);
}

TEST_F(SpawnerTest, LeavesNothingWhenTheServerIsKilledWhileAKeeperIsStopped) {
  ExpectNothingSurvivesTheServer({Shell("kill -STOP $PPID; setsid sleep 1000 & sleep 1000")}, 2);
}

TEST_F(SpawnerTest, StartsAKeeperThatReportsAndEnds) {
  struct Observer : CommandObserver {
    void OnStarted(pid_t started) override { pid = started; }
    void OnStartFailed(StartStep, int) override { ADD_FAILURE(); }
    void OnExited(int wait_status) override { status = wait_status; }
    void OnGone() override { gone = true; }
    pid_t pid = 0;
    int status = -1;
    bool gone = false;
  } observer;
  auto null = sys::OpenDevNull();
  ASSERT_TRUE(null);
  auto started = spawner_->Start(Shell("exit 42"), Pipes{}, {null->get(), null->get(), null->get()});
  ASSERT_TRUE(started);
  const pid_t keeper_pid = started->child.pid;
  Keeper keeper(loop_, *spawner_, *std::move(started), observer);
  ASSERT_TRUE(RunUntil([&] { return observer.pid != 0; }));
  EXPECT_EQ(support::ReadProcFile(keeper_pid, "comm"), "holdfast-keeper\n");
  ASSERT_TRUE(RunUntil([&] { return observer.gone; }));
  EXPECT_NE(observer.pid, keeper_pid);
  EXPECT_EQ(observer.status, 42 << 8);
}

// Otherwise the server could not notice that a wrapper has closed its end of a socket.
TEST_F(SpawnerTest, KeepsNoDescriptorOfAWrapperOpen) {
  struct Observer : CommandObserver {
    void OnStarted(pid_t) override {}
    void OnStartFailed(StartStep, int) override { ADD_FAILURE(); }
    void OnStopped(int, unsigned) override {}
    void OnExited(int) override {}
    void OnGone() override { gone = true; }
    bool gone = false;
  } observer;
  auto null = sys::OpenDevNull();
  ASSERT_TRUE(null);
  Command command = Shell("exit 0");
  command.wrapper = Wrapper{.fds = {std::make_shared<const OwnedFd>(::dup(null->get()))}, .report = nullptr};
  const std::weak_ptr<const OwnedFd> passed = command.wrapper->fds[0];
  auto started = spawner_->Start(command, Pipes{}, {null->get(), null->get(), null->get()});
  ASSERT_TRUE(started);
  command.wrapper->fds.clear();
  EXPECT_TRUE(passed.expired());
  Keeper keeper(loop_, *spawner_, *std::move(started), observer);
  EXPECT_TRUE(RunUntil([&] { return observer.gone; }));
}

TEST_F(SpawnerTest, ReportsTheStopOfACommandOnlyIfItsOwnerWantsToKnow) {
  struct Observer : CommandObserver {
    void OnStarted(pid_t started) override { pid = started; }
    void OnStartFailed(StartStep, int) override { ADD_FAILURE(); }
    void OnStopped(int signal, unsigned) override { stops.push_back(signal); }
    void OnExited(int wait_status) override { status = wait_status; }
    void OnGone() override { gone = true; }
    pid_t pid = 0;
    std::vector<int> stops;
    int status = -1;
    bool gone = false;
  };
  auto null = sys::OpenDevNull();
  ASSERT_TRUE(null);
  for (const Stops stops : {Stops::kUnnoticed, Stops::kReported}) {
    Observer observer;
    Command command = Shell("kill -STOP $$; kill -KILL $$");
    command.stops = stops;
    auto started = spawner_->Start(command, Pipes{}, {null->get(), null->get(), null->get()});
    ASSERT_TRUE(started);
    Keeper keeper(loop_, *spawner_, *std::move(started), observer);
    ASSERT_TRUE(RunUntil([&] {
      return observer.pid != 0 && support::ReadProcFile(observer.pid, "status").value_or("").contains("\tT (stopped)");
    }));
    ASSERT_TRUE(RunUntil([&] { return stops == Stops::kUnnoticed || !observer.stops.empty(); }));
    keeper.Signal(SIGCONT);
    ASSERT_TRUE(RunUntil([&] { return observer.gone; }));
    EXPECT_EQ(observer.status, SIGKILL);
    EXPECT_EQ(observer.stops, stops == Stops::kReported ? std::vector{SIGSTOP} : std::vector<int>{});
  }
}

// An owner that learns of the start may check at once, by its own end of the pipes, whether the command is still there.
TEST_F(SpawnerTest, AKeeperThatHasStartedACommandHoldsNothingOfTheCommands) {
  struct Observer : CommandObserver {
    void OnStarted(pid_t) override {
      has_started = true;
      for (const auto& fd : std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", keeper_pid))) {
        std::error_code gone_meanwhile;
        EXPECT_NE(std::filesystem::read_symlink(fd, gone_meanwhile), "/dev/null") << fd;
      }
    }
    void OnStartFailed(StartStep, int) override { ADD_FAILURE(); }
    void OnExited(int) override {}
    void OnGone() override { gone = true; }
    pid_t keeper_pid = 0;
    bool has_started = false, gone = false;
  };
  auto null = sys::OpenDevNull();
  ASSERT_TRUE(null);
  for (int i = 0; i < 20; ++i) {
    Observer observer;
    auto started = spawner_->Start(Shell("sleep 1000"), Pipes{}, {null->get(), null->get(), null->get()});
    ASSERT_TRUE(started);
    observer.keeper_pid = started->child.pid;
    Keeper keeper(loop_, *spawner_, *std::move(started), observer);
    ASSERT_TRUE(RunUntil([&] { return observer.has_started; }));
    keeper.KillAll();
    ASSERT_TRUE(RunUntil([&] { return observer.gone; }));
  }
}

TEST_F(SpawnerTest, TellsTheStepThatFailed) {
  struct Observer : CommandObserver {
    void OnStarted(pid_t) override { ADD_FAILURE(); }
    void OnStartFailed(StartStep failed, int error) override { step = failed, errno_value = error; }
    void OnExited(int) override { ADD_FAILURE(); }
    void OnGone() override { gone = true; }
    StartStep step = StartStep::kNone;
    int errno_value = 0;
    bool gone = false;
  };
  auto null = sys::OpenDevNull();
  ASSERT_TRUE(null);
  auto fail = [&](const Command& command, const Io& io) {
    Observer observer;
    auto started = spawner_->Start(command, io, {null->get(), null->get(), null->get()});
    EXPECT_TRUE(started);
    Keeper keeper(loop_, *spawner_, *std::move(started), observer);
    EXPECT_TRUE(RunUntil([&] { return observer.gone; }));
    return std::pair(observer.step, observer.errno_value);
  };
  Command lost = Shell("true"), absent = Shell("true");
  lost.cwd = "/no/such";
  absent.program = "/no/such";
  EXPECT_EQ(fail(lost, Pipes{}), std::pair(StartStep::kDirectory, ENOENT));
  EXPECT_EQ(fail(absent, Pipes{}), std::pair(StartStep::kExec, ENOENT));
  EXPECT_EQ(fail(Shell("true"), Terminal{}), std::pair(StartStep::kTerminal, ENOTTY));  // /dev/null is not a terminal
}

TEST_F(SpawnerTest, LeavesAKeeperThatIsDroppedToCleanUp) {
  Subject& subject = Launch(Shell("setsid sleep 1000 & sleep 1000"));
  ASSERT_TRUE(RunUntil([&] { return subject->pid().has_value(); }));
  ASSERT_TRUE(RunUntilMarked(2));
  subjects_.clear();
  EXPECT_TRUE(RunUntil([&] { return support::LivingWithVariable(Mark()).empty(); }));
  EXPECT_GT(::waitpid(-1, nullptr, 0), 0);
}

// A process that another process traces is dead when it is killed, but cannot be reaped before the tracer releases it.
TEST_F(SpawnerTest, ReapsAnOrphanThatNobodyWaitsForAnyMore) {
  auto told = sys::MakePipe(sys::OurEnd::kRead);
  ASSERT_TRUE(told);
  const pid_t server = ForkServer({Shell("exec sleep 1000")}, Pipes{}, told->write_end.get());
  ASSERT_TRUE(RunUntilMarked(1));
  const auto keepers = support::ChildrenOf(server), orphans = support::LivingWithVariable(Mark());
  ASSERT_EQ(keepers.size(), 1u);
  ASSERT_EQ(orphans.size(), 1u);
  if (::ptrace(PTRACE_SEIZE, orphans[0], nullptr, nullptr) < 0) {
    ExpectNothingSurvives(server);
    GTEST_SKIP() << "this machine lets nobody trace";
  }
  ::kill(keepers[0], SIGKILL);
  char byte;
  EXPECT_TRUE(RunUntil([&] { return sys::Read(told->read_end.get(), &byte, 1) == 1; }));
  EXPECT_EQ(support::ChildrenOf(server), orphans);
  EXPECT_EQ(::waitpid(orphans[0], nullptr, __WALL), orphans[0]);
  EXPECT_TRUE(RunUntil([&] { return support::ChildrenOf(server).empty(); }));
  ExpectNothingSurvives(server);
}

// A process that a thread of the test traces, and that stops for it.
class TracedProcess {
 public:
  explicit TracedProcess(pid_t pid) : pid_(pid) {
    thread_ = std::jthread([this](const std::stop_token& stop) {
      seized_ = ::ptrace(PTRACE_SEIZE, pid_, nullptr, nullptr) == 0 &&
                ::ptrace(PTRACE_INTERRUPT, pid_, nullptr, nullptr) == 0;
      ready_.release();
      look_.acquire();
      if (!stop.stop_requested()) stop_is_there_ = ::waitpid(pid_, nullptr, __WALL | WNOHANG | __WNOTHREAD) == pid_;
      ready_.release();
    });
    ready_.acquire();
  }
  ~TracedProcess() {
    thread_.request_stop();
    look_.release();
  }
  TracedProcess(const TracedProcess&) = delete;
  TracedProcess& operator=(const TracedProcess&) = delete;

  pid_t pid() const { return pid_; }
  bool is_seized() const { return seized_; }
  // Returns whether the tracer can still wait for the stop. Is called once.
  bool StopIsThere() {
    look_.release();
    ready_.acquire();
    return stop_is_there_;
  }

 private:
  const pid_t pid_;
  std::binary_semaphore ready_{0};
  std::counting_semaphore<> look_{0};
  bool seized_ = false, stop_is_there_ = false;
  std::jthread thread_;
};

TEST_F(SpawnerTest, LeavesTheStopsOfAProcessToTheThreadThatTracesIt) {
  Subject& other = Launch(Shell("exec sleep 1000"));
  ASSERT_TRUE(RunUntil([&] { return other->pid().has_value(); }));
  TracedProcess traced(*other->pid());
  if (!traced.is_seized()) GTEST_SKIP() << "this machine lets nobody trace";
  ASSERT_TRUE(
      RunUntil([&] { return support::ReadProcFile(traced.pid(), "status").value_or("").contains("\tt (trac"); }));
  Subject& subject = Launch(Shell("kill -STOP $PPID; exit 3"));
  ASSERT_TRUE(RunUntil([&] { return subject.over(); }));  // only after the spawner has woken the keeper
  EXPECT_TRUE(traced.StopIsThere());
}

TEST_F(SpawnerTest, LeavesAProcessAloneThatAThreadTracesWhenAKeeperIsLost) {
  Subject& other = Launch(Shell("exec sleep 1000"));
  ASSERT_TRUE(RunUntil([&] { return other->pid().has_value(); }));
  TracedProcess traced(*other->pid());
  if (!traced.is_seized()) GTEST_SKIP() << "this machine lets nobody trace";
  Subject& subject = Launch(Shell("kill -KILL $PPID; sleep 1000"));
  ASSERT_TRUE(RunUntil([&] { return subject.over(); }));
  EXPECT_TRUE(support::IsAlive(traced.pid()));
}

}  // namespace
}  // namespace holdfast::process
