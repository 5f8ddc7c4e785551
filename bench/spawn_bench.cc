// Benchmarks of a start without any protocol: a bare posix_spawn, and the same command under a keeper.

#include <benchmark/benchmark.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "process/keeper/protocol.h"
#include "process/spawner.h"
#include "process/stdio.h"
#include "sys/io.h"

namespace holdfast::process {
namespace {

void BarePosixSpawn(benchmark::State& state) {
  char program[] = "/bin/true";
  char* argv[] = {program, nullptr};
  for (auto _ : state) {
    pid_t pid = 0;
    CHECK(::posix_spawn(&pid, program, nullptr, nullptr, argv, environ) == 0);
    CHECK(::waitpid(pid, nullptr, 0) == pid);
  }
}
BENCHMARK(BarePosixSpawn)->Unit(benchmark::kMicrosecond)->UseRealTime();

KeeperEvent NextEvent(int control) {
  KeeperEvent event;
  CHECK(::recv(control, &event, sizeof event, 0) == sizeof event);
  return event;
}

void UnderKeeper(benchmark::State& state) {
  (void)sys::ReserveLowFds();
  loop::EventLoop loop;
  auto spawner = Spawner::Create(loop);
  CHECK(spawner.has_value());
  Command command{.program = "/bin/true", .search_path = {}, .argv = {"/bin/true"}, .env = {}, .cwd = "/"};
  for (auto _ : state) {
    auto stdio = OpenStdio(Pipes{});
    auto keeper =
        (*spawner)->Start(command, Pipes{}, {stdio->child_in.get(), stdio->child_out.get(), stdio->child_err.get()});
    CHECK(keeper.has_value());
    CHECK(sys::SetBlocking(keeper->control.get(), sys::Blocking::kYes).has_value());
    CHECK(NextEvent(keeper->control.get()).kind == KeeperEventKind::kExited);
    state.PauseTiming();
    CHECK(::waitpid(keeper->child.pid, nullptr, 0) == keeper->child.pid);
    (*spawner)->Forget(keeper->child.pid, sys::Ending::kExitedCleanly, [] {});
    state.ResumeTiming();
  }
}
BENCHMARK(UnderKeeper)->Unit(benchmark::kMicrosecond)->UseRealTime();

}  // namespace
}  // namespace holdfast::process
