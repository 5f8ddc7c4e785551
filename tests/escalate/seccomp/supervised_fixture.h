// The fixture runs commands under a supervisor whose decisions a test chooses by the base names of programs, and runs
// the same commands without one.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "escalate/approver.h"
#include "escalate/seccomp/judgement_log.h"
#include "escalate/seccomp/supervision.h"
#include "loop/event.h"
#include "loop/event_loop.h"
#include "process/spawner.h"
#include "support/scratch_dir.h"
#include "support/test_socket.h"

namespace holdfast::escalate {

using Words = std::vector<std::string>;

struct CommandOutcome {
  int status;  // 128 + N after signal N
  std::string out, err;

  friend bool operator==(const CommandOutcome&, const CommandOutcome&) = default;
};
void PrintTo(const CommandOutcome& outcome, std::ostream* out);

// An approver that answers when the test says so.
class HeldApprover final : public Approver {
 public:
  loop::Task<Answer> Ask(Question question) override;
  void AnswerAll(Answer answer);

  std::vector<Question> asked;
  int open = 0;  // questions whose tasks exist and are not answered

 private:
  std::optional<Answer> answer_;
  loop::Event answered_;
};

// A command that runs, with its outputs in memory files.
class RunningCommand {
 public:
  RunningCommand(const Words& words, int supervisor, const Words& environment);
  ~RunningCommand();
  RunningCommand(const RunningCommand&) = delete;
  RunningCommand& operator=(const RunningCommand&) = delete;

  pid_t pid() const { return pid_; }
  bool HasEnded();
  CommandOutcome outcome() const;
  std::string out() const;

 private:
  pid_t pid_ = -1;
  OwnedFd pidfd_, out_, err_;
  std::optional<int> status_;
};

class SupervisedFixture : public testing::Test {
 protected:
  SupervisedFixture();
  ~SupervisedFixture() override;

  // A decision by the base name of the program. The others run.
  void Decide(const std::string& name, exec_policy::Judgement judgement);
  void Escalate(const std::string& name) { Decide(name, {.action = exec_policy::Action::kEscalate}); }
  void Deny(const std::string& name, std::string reason = {});
  void AskAbout(const std::string& name, exec_policy::Action when_approved);

  exec_policy::Judgement Judge(const exec_policy::ExecAttempt& attempt);

  // Starts a tree of its own supervisor. Settings without a judge or an environment get the fixture's own.
  std::unique_ptr<RunningCommand> Start(const Words& words, SupervisorSettings settings = {});
  // Runs a command to its end.
  CommandOutcome Run(const Words& words, SupervisorSettings settings = {});
  CommandOutcome RunShell(const std::string& script, SupervisorSettings settings = {});
  CommandOutcome RunNatively(const Words& words);
  process::Environment StartEnvironment() const;
  // Starts a command outside, on the loop's thread.
  virtual Result<std::unique_ptr<OutsideCommand>> StartOutsideOf(OutsideOrder order, OutsideObserver& observer);
  bool RunLoopUntil(const std::function<bool()>& done, std::chrono::milliseconds patience = support::kPatience);

  size_t judged(const std::string& name) const { return judgements_.of(name); }

  support::ScratchDir scratch_;
  loop::EventLoop loop_;
  HeldApprover approver_;
  Words environment_ = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/", "LC_ALL=C"};
  std::unique_ptr<process::Spawner> spawner_;
  JudgementLog judgements_;
  size_t started_outside_ = 0;  // commands
  std::unique_ptr<Supervision> supervision_;

 private:
  std::map<std::string, exec_policy::Judgement> decisions_;
};

inline SupervisorSettings Strict() { return {.judge = {}, .strictness = Strictness::kStrict}; }

// The program tests/escalate/exec_caller, which makes calls of execve that shells do not make.
std::string CallerProgram();

}  // namespace holdfast::escalate
