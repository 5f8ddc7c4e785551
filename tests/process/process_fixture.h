// The fixture starts real processes under an owner that records their events. Processes that a test leaves running are
// killed after it, and the fixture waits for their end.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random_id.h"
#include "loop/event_loop.h"
#include "process/process.h"
#include "process/spawner.h"
#include "support/loop_runner.h"
#include "support/proc.h"
#include "sys/io.h"

namespace holdfast::process {

class RecordingOwner : public ProcessOwner {
 public:
  void OnStarted(Process& process) override {
    events.emplace_back("started");
    process.ResumeOutput();
  }
  void OnStartFailed(Process&, const Error& failure) override {
    events.emplace_back("failed");
    error = failure;
  }
  void OnOutput(Process&, const Chunk& chunk) override {
    if (events.empty() || events.back() != "output") events.emplace_back("output");
    seqs.push_back(chunk.seq);
    streams[static_cast<size_t>(chunk.stream)] += chunk.bytes;
  }
  void OnExited(Process&, uint64_t seq) override { Record("exited", seq); }
  void OnClosed(Process&, uint64_t seq) override { Record("closed", seq); }
  void OnGone(Process&) override { events.emplace_back("gone"); }
  bool WantsOutput() const override { return wants_output; }

  const std::string& out() const { return streams[0]; }
  const std::string& err() const { return streams[1]; }
  const std::string& terminal() const { return streams[2]; }

  bool wants_output = true;
  std::vector<std::string> events;  // consecutive chunks are one "output"
  std::vector<uint64_t> seqs;
  std::string streams[3];
  std::optional<Error> error;

 private:
  void Record(const char* event, uint64_t seq) {
    events.emplace_back(event);
    seqs.push_back(seq);
  }
};

struct Subject {
  RecordingOwner owner;
  std::unique_ptr<Process> process;

  Process* operator->() { return process.get(); }
  bool failed() const { return owner.error.has_value(); }
  bool over() const { return process->gone() && (failed() || process->closed()); }
};

inline Command Shell(std::string script) {
  return {.program = "/bin/sh",
          .search_path = std::nullopt,
          .argv = {"sh", "-c", std::move(script)},
          .env = {{"PATH", "/usr/bin:/bin"}},
          .cwd = "/"};
}

inline const Pipes kOpenStdin{Stdin::kPipe};

class ProcessFixture : public testing::Test {
 protected:
  ProcessFixture() {
    ::signal(SIGPIPE, SIG_IGN);  // as the server does
    EXPECT_TRUE(sys::ReserveLowFds());
    auto spawner = Spawner::Create(loop_);
    EXPECT_TRUE(spawner) << spawner.error().message;
    spawner_ = *std::move(spawner);
  }

  void TearDown() override {
    for (auto& subject : subjects_) {
      if (subject->process && !subject->process->gone()) subject->process->Kill({});
    }
    EXPECT_TRUE(RunUntil(
        [&] { return std::ranges::all_of(subjects_, [](auto& s) { return !s->process || s->process->gone(); }); }));
    EXPECT_TRUE(NothingIsLeft());
  }

  bool RunUntil(const std::function<bool()>& done) { return support::RunUntil(loop_, done); }

  // Every command of the test has this variable in its environment, and so has every process that it forks.
  std::string Mark() const { return "HOLDFAST_TEST_MARK=" + mark_; }

  Subject& Launch(Command command, const Io& io = Pipes{}) {
    command.env.emplace_back("HOLDFAST_TEST_MARK", mark_);
    return LaunchUnmarked(command, io);
  }

  Subject& LaunchUnmarked(const Command& command, const Io& io = Pipes{}) {
    Subject& subject = *subjects_.emplace_back(std::make_unique<Subject>());
    auto process = Process::Start(loop_, *spawner_, command, io, limits_, subject.owner);
    EXPECT_TRUE(process) << process.error().message;
    if (process) subject.process = *std::move(process);
    return subject;
  }

  // Runs the command to its end.
  Subject& Run(Command command, const Io& io = Pipes{}) {
    Subject& subject = Launch(std::move(command), io);
    EXPECT_TRUE(RunUntil([&] { return subject.over(); })) << testing::PrintToString(subject.owner.events);
    return subject;
  }

  // Starts a script that reads one line first, and sends it that line once the start is known.
  Subject& LaunchAndGo(const std::string& script) {
    Subject& subject = Launch(Shell("read go; " + script), kOpenStdin);
    EXPECT_TRUE(RunUntil([&] { return subject->pid().has_value(); }));
    subject->input()->Write(0, "go\n", [](auto) {});
    return subject;
  }

  bool RunUntilOutput(Subject& subject, std::string_view text) {
    return RunUntil([&] { return (subject.owner.out() + subject.owner.terminal()).contains(text); });
  }

  // The test is a subreaper: every process that a command left behind becomes its child in the end, alive or as a
  // zombie.
  bool NothingIsLeft() {
    return RunUntil(
        [&] { return support::ChildrenOf(::getpid()).empty() && support::LivingWithVariable(Mark()).empty(); });
  }

  // Returns a callback for Kill and Terminate that counts the answers.
  loop::Callback CountDone() {
    return [this] { ++done_; };
  }

  bool RunUntilMarked(size_t count) {
    return RunUntil([&] { return support::LivingWithVariable(Mark()).size() >= count; });
  }

  loop::EventLoop loop_;
  std::unique_ptr<Spawner> spawner_;
  OutputLimits limits_;
  std::vector<std::unique_ptr<Subject>> subjects_;
  int done_ = 0;
  std::string mark_ = RandomUuid();
};

}  // namespace holdfast::process
