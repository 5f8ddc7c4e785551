// The user of a pipe in tests, and tasks whose results tests wait for.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "loop/event_loop.h"
#include "loop/scope.h"
#include "loop/task.h"
#include "rendezvous/relay/pipe.h"
#include "support/loop_runner.h"

namespace holdfast::rendezvous {

// Keeps what comes out of a pipe, and closes the pipe at the end.
class PipeUser final : public Pipe::Receiver {
 public:
  explicit PipeUser(std::shared_ptr<Pipe> given) : pipe(std::move(given)) { pipe->Start(*this); }
  ~PipeUser() { pipe->Close(); }
  PipeUser(const PipeUser&) = delete;
  PipeUser& operator=(const PipeUser&) = delete;

  void OnBytes(std::string_view bytes) override {
    EXPECT_FALSE(ended);
    received += bytes;
  }
  void OnDrained() override { ++drained; }
  void OnEnded() override { ended = true; }

  std::shared_ptr<Pipe> pipe;
  std::string received;
  int drained = 0;
  bool ended = false;
};

template <typename T>
loop::Task<> StoreResult(loop::Task<T> task, std::optional<T>& result) {
  result.emplace(co_await std::move(task));
}

// Runs a task to its end.
template <typename T>
T Await(loop::EventLoop& loop, loop::Task<T> task) {
  std::optional<T> result;
  loop::Scope scope;
  scope.Start(StoreResult(std::move(task), result));
  EXPECT_TRUE(support::RunUntil(loop, [&] { return result.has_value(); }));
  return std::move(result).value();
}

}  // namespace holdfast::rendezvous
