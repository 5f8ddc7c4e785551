// Benchmarks of one execution, from the start of a child to its end: without a supervisor, and with one that lets it
// run, runs a copy of it (strict), runs it outside, or denies it. The time is that of the calling process, which a
// process of its own takes.

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "base/check.h"
#include "escalate/outside/outside_command.h"
#include "escalate/seccomp/supervision.h"
#include "process/spawner.h"
#include "sys/descriptor_passing.h"
#include "sys/io.h"
#include "sys/short_slices.h"

namespace holdfast::escalate {
namespace {

using exec_policy::Action;
using Clock = std::chrono::steady_clock;

void SubmitTo(int supervisor) {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execveat, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {.len = std::size(code), .filter = code};
  CHECK(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  constexpr unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | 1u << 5;  // SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
  const OwnedFd listener(static_cast<int>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program)));
  char byte = 0;
  CHECK(listener.is_open() && sys::SendWithDescriptor(supervisor, {&byte, 1}, listener.get()).has_value());
  CHECK(::read(supervisor, &byte, 1) == 1);
}

// Executes the program once, and returns the time from the start to the end of the child.
Clock::duration ExecuteOnce() {
  char program[] = "/bin/true";
  char* argv[] = {program, nullptr};
  const auto before = Clock::now();
  const pid_t child = ::vfork();
  if (child == 0) {
    ::execve(program, argv, environ);
    ::_exit(99);
  }
  int status = 0;
  CHECK(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) != 99);
  return Clock::now() - before;
}

// A caller is a process that executes the program whenever it reads a byte, and answers with the time.
class Caller {
 public:
  explicit Caller(int supervisor) {
    int wishes[2], answers[2];
    CHECK(::pipe2(wishes, O_CLOEXEC) == 0 && ::pipe2(answers, O_CLOEXEC) == 0);
    wishes_ = OwnedFd(wishes[1]);
    answers_ = OwnedFd(answers[0]);
    pid_ = ::fork();
    if (pid_ == 0) Serve(wishes[0], answers[1], supervisor);
    ::close(wishes[0]);
    ::close(answers[1]);
  }
  ~Caller() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  double SecondsOf(loop::EventLoop& loop) {
    loop::FdWatch answered(loop, answers_.get(), [&] { loop.Stop(); });
    answered.WatchReadable();
    CHECK(::write(wishes_.get(), "", 1) == 1);
    loop.Run();
    Clock::duration time;
    CHECK(::read(answers_.get(), &time, sizeof time) == sizeof time);
    return std::chrono::duration<double>(time).count();
  }

 private:
  [[noreturn]] static void Serve(int wishes, int answers, int supervisor) {
    ::dup2(::open("/dev/null", O_WRONLY | O_CLOEXEC), 2);
    if (supervisor >= 0) SubmitTo(supervisor);
    for (char byte; ::read(wishes, &byte, 1) == 1;) {
      const auto time = ExecuteOnce();
      CHECK(::write(answers, &time, sizeof time) == sizeof time);
    }
    ::_exit(0);
  }

  pid_t pid_;
  OwnedFd wishes_, answers_;
};

// The decisions of the benchmarks leave nothing to a person.
class NoApprover final : public Approver {
 public:
  loop::Task<Answer> Ask(Question) override {
    CHECK(false);
    co_return Answer{};
  }
};

void Measure(benchmark::State& state, std::optional<Action> action, Strictness strictness = Strictness::kUsual) {
  (void)sys::ReserveLowFds();
  sys::raw::AskForShortSlices();  // as every server does
  loop::EventLoop loop;
  const auto spawner = process::Spawner::Create(loop);
  CHECK(spawner.has_value());
  NoApprover approver;
  std::unique_ptr<Supervision> supervision;
  if (action) {
    StartOutside start = [&](OutsideOrder order, OutsideObserver& observer) {
      return OutsideCommand::Start(loop, **spawner, std::move(order), observer);
    };
    SupervisorSettings settings{.judge = [&](const auto&) { return exec_policy::Judgement{.action = *action}; },
                                .strictness = strictness};
    supervision = *Supervision::Create(loop, approver, std::move(start), std::move(settings));
  }
  Caller caller(supervision ? supervision->helper_socket()->get() : -1);
  std::vector<double> times;
  for (auto _ : state) state.SetIterationTime(times.emplace_back(caller.SecondsOf(loop)));
  std::ranges::sort(times);
  state.counters["min_us"] = times.front() * 1e6;
  state.counters["p10_us"] = times[times.size() / 10] * 1e6;
  state.counters["p50_us"] = times[times.size() / 2] * 1e6;
}

void Plain(benchmark::State& state) { Measure(state, {}); }
void Run(benchmark::State& state) { Measure(state, Action::kRun); }
void StrictRun(benchmark::State& state) { Measure(state, Action::kRun, Strictness::kStrict); }
void Escalate(benchmark::State& state) { Measure(state, Action::kEscalate); }
void Deny(benchmark::State& state) { Measure(state, Action::kDeny); }

BENCHMARK(Plain)->Unit(benchmark::kMicrosecond)->UseManualTime();
BENCHMARK(Run)->Unit(benchmark::kMicrosecond)->UseManualTime();
BENCHMARK(StrictRun)->Unit(benchmark::kMicrosecond)->UseManualTime();
BENCHMARK(Escalate)->Unit(benchmark::kMicrosecond)->UseManualTime();
BENCHMARK(Deny)->Unit(benchmark::kMicrosecond)->UseManualTime();

}  // namespace
}  // namespace holdfast::escalate
