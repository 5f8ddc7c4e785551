// The fixture starts real commands outside under an observer that records their events. Commands that a test leaves
// running are killed after it, and the fixture waits for their end.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random_id.h"
#include "escalate/outside/outside_command.h"
#include "loop/event_loop.h"
#include "process/spawner.h"
#include "support/loop_runner.h"
#include "support/proc.h"
#include "sys/io.h"

namespace holdfast::escalate {

class RecordingObserver : public OutsideObserver {
 public:
  void OnStopped(int signal, unsigned continue_count) override { stops.emplace_back(signal, continue_count); }
  void OnEnded(const Ending& end) override {
    EXPECT_FALSE(ending);
    ending = end;
  }

  std::vector<std::pair<int, unsigned>> stops;  // the signal, and the number of SIGCONTs before it
  std::optional<Ending> ending;
};

class OutsideFixture : public testing::Test {
 protected:
  OutsideFixture() {
    ::signal(SIGPIPE, SIG_IGN);  // as the server does
    EXPECT_TRUE(sys::ReserveLowFds());
    auto spawner = process::Spawner::Create(loop_);
    EXPECT_TRUE(spawner) << spawner.error().message;
    spawner_ = *std::move(spawner);
  }

  void TearDown() override {
    command_.reset();
    EXPECT_TRUE(NothingIsLeft());
  }

  bool RunUntil(const std::function<bool()>& done) { return support::RunUntil(loop_, done); }

  // Every command that has this variable passes it on to every process that it forks.
  std::string Mark() const { return "HOLDFAST_TEST_MARK=" + mark_; }

  // The test is a subreaper: every process that a command left behind becomes its child in the end.
  bool NothingIsLeft() {
    return RunUntil(
        [&] { return support::ChildrenOf(::getpid()).empty() && support::LivingWithVariable(Mark()).empty(); });
  }

  static std::shared_ptr<const OwnedFd> Directory(const std::string& path) {
    return std::make_shared<const OwnedFd>(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }

  OutsideOrder Order(std::vector<std::string> argv) {
    OutsideOrder order{.path = argv.front(), .argv = std::move(argv), .directory = Directory("/")};
    order.environment = {"PATH=/usr/bin:/bin", Mark()};
    return order;
  }

  OutsideOrder Script(std::string script) { return Order({"/bin/bash", "-c", std::move(script)}); }

  // Gives the command a pipe under this number. The result is the end that the test reads.
  static OwnedFd AddPipe(OutsideOrder& order, int number) {
    auto pipe = sys::MakePipe(sys::OurEnd::kRead);
    EXPECT_TRUE(pipe);
    order.fds.push_back({number, std::move(pipe->write_end)});
    return std::move(pipe->read_end);
  }

  void Start(OutsideOrder order) {
    auto command = OutsideCommand::Start(loop_, *spawner_, std::move(order), observer_);
    ASSERT_TRUE(command) << command.error().message;
    command_ = *std::move(command);
  }

  std::optional<Ending> AwaitEnd() {
    EXPECT_TRUE(RunUntil([&] { return observer_.ending.has_value(); }));
    return observer_.ending;
  }

  // Starts the command with pipes as its standard output and error, and returns what it writes until its end.
  std::string OutputOf(OutsideOrder order) {
    const OwnedFd out = AddPipe(order, 1);
    order.fds.push_back({2, *sys::Duplicate(order.fds.back().fd.get())});
    Start(std::move(order));
    std::string output = ReadToEnd(out);
    EXPECT_TRUE(AwaitEnd());
    return output;
  }

  // Appends what can be read. Returns false at the end of the pipe.
  static bool ReadSome(const OwnedFd& pipe, std::string& text) {
    char buffer[4096];
    for (;;) {
      const ssize_t size = sys::Read(pipe.get(), buffer, sizeof buffer);
      if (size <= 0) return size < 0;
      text.append(buffer, static_cast<size_t>(size));
    }
  }

  std::string ReadToEnd(const OwnedFd& pipe) {
    std::string text;
    EXPECT_TRUE(RunUntil([&] { return !ReadSome(pipe, text); })) << text;
    return text;
  }

  bool AwaitText(const OwnedFd& pipe, std::string_view wanted) {
    std::string text;
    return RunUntil([&] {
      (void)ReadSome(pipe, text);  // the end of the pipe is no failure if the text has come
      return text.contains(wanted);
    });
  }

  loop::EventLoop loop_;
  std::unique_ptr<process::Spawner> spawner_;
  RecordingObserver observer_;
  std::unique_ptr<OutsideCommand> command_;
  std::string mark_ = RandomUuid();
};

}  // namespace holdfast::escalate
