// A benchmark of a command outside: from the order to the end of the command, with the loop in between.

#include <benchmark/benchmark.h>
#include <fcntl.h>

#include <memory>
#include <optional>

#include "base/check.h"
#include "base/owned_fd.h"
#include "escalate/outside/outside_command.h"
#include "process/spawner.h"
#include "sys/io.h"

namespace holdfast::escalate {
namespace {

class Observer : public OutsideObserver {
 public:
  explicit Observer(loop::EventLoop& loop) : loop_(loop) {}
  void OnStopped(int, unsigned) override {}
  void OnEnded(const Ending& ending) override {
    CHECK(ending == Ending{});
    loop_.Stop();
  }

 private:
  loop::EventLoop& loop_;
};

OutsideOrder Order() {
  OutsideOrder order{.path = "/bin/true", .argv = {"true"}, .environment = {"PATH=/usr/bin:/bin"}};
  order.directory = std::make_shared<const OwnedFd>(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  CHECK(order.directory->is_open());
  for (int number = 0; number <= 2; ++number) order.fds.push_back({number, *sys::OpenDevNull()});
  return order;
}

void OutsideCommandFromStartToEnd(benchmark::State& state) {
  (void)sys::ReserveLowFds();
  loop::EventLoop loop;
  auto spawner = process::Spawner::Create(loop);
  CHECK(spawner.has_value());
  Observer observer(loop);
  for (auto _ : state) {
    auto command = OutsideCommand::Start(loop, **spawner, Order(), observer);
    CHECK(command.has_value());
    loop.Run();
  }
}
BENCHMARK(OutsideCommandFromStartToEnd)->Unit(benchmark::kMicrosecond)->UseRealTime();

}  // namespace
}  // namespace holdfast::escalate
