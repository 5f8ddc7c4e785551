#include "sandbox/launchers/sandboxed_start.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loop/worker_pool.h"
#include "process/process.h"
#include "process/process_fixture.h"
#include "sandbox/launchers/fake_helper.h"
#include "sandbox/launchers/launchers.h"
#include "sandbox/policy/builtin_policies.h"
#include "support/scratch_dir.h"

namespace holdfast::sandbox {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using process::Subject;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

SandboxPrograms TheseTests() {
  return {.helper = SealedProgram(std::make_shared<const OwnedFd>(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC))),
          .directory = "/usr/bin"};
}

class SandboxedStartTest : public process::ProcessFixture {
 protected:
  SandboxedStartTest() { Use({}); }

  // Ends the launchers, which may still have commands, before the fixture looks for what is left.
  void TearDown() override {
    bool ended = false;
    for (auto& subject : subjects_) {
      if (subject->process && !subject->process->gone()) subject->process->Kill({});
    }
    launchers_->End(kSession, [] {});
    launchers_->End("other", [&] { ended = true; });
    EXPECT_TRUE(RunUntil([&] { return ended && launchers_->alive() == 0; }));
    ProcessFixture::TearDown();
  }

  void Use(Launchers::Limits limits) {
    launchers_.emplace(loop_, *spawner_, program_, limits,
                       [this](const std::string&, const Error& why) { failures_.push_back(why.message); });
  }
  void Behave(const std::string& behaviour) { dir_.Write("behaviour", behaviour); }

  std::string Directory() const { return fs::canonical(dir_.path()); }
  SandboxSpec Sandbox() const {
    SandboxSpec sandbox;
    sandbox.profile.policy = ReadOnly();
    sandbox.profile.policy.files->entries.push_back(
        {.where = Place{PlaceKind::kProjectRoots}, .access = Access::kWrite});
    sandbox.policy_cwd = Directory();
    return sandbox;
  }
  SandboxedStart::Request Request(std::string script) const {
    process::Command command = process::Shell(std::move(script));
    command.cwd = Directory();
    return {.session_id = kSession, .command = std::move(command), .sandbox = Sandbox(), .io = process::Pipes{}};
  }

  Subject& Start(SandboxedStart::Request request) {
    Subject& subject = *subjects_.emplace_back(std::make_unique<Subject>());
    const process::Io io = request.io;
    auto start = SandboxedStart::Of({.loop = loop_,
                                     .spawner = *spawner_,
                                     .workers = workers_,
                                     .program = program_,
                                     .launchers = *launchers_,
                                     .memory = memory_},
                                    std::move(request));
    auto process = process::Process::Start(loop_, std::move(start), io, limits_, subject.owner);
    EXPECT_TRUE(process) << process.error().message;
    if (process) subject.process = *std::move(process);
    return subject;
  }
  Subject& Start(std::string script) { return Start(Request(std::move(script))); }

  bool RunToTheEnd(Subject& subject) {
    return RunUntil([&] { return subject.over(); });
  }
  bool RunUntilStarted(Subject& subject) {
    return RunUntil([&] { return subject->phase() != process::Process::Phase::kStarting; });
  }

  std::vector<std::string> LogLines(const std::string& beginning = "") const {
    std::ifstream file(Directory() + "/log");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with(beginning)) lines.push_back(line);
    }
    return lines;
  }
  pid_t LauncherPid() const { return std::stoi(LogLines("jail").at(0).substr(5)); }

  static constexpr const char* kSession = "session";

  support::ScratchDir dir_;
  SandboxProgram program_{TheseTests(), "/usr/bin:/bin", ""};
  loop::WorkerPool workers_{loop_, {.usual_workers = 1, .max_workers = 1}};
  std::shared_ptr<WalkMemory> memory_ = std::make_shared<WalkMemory>();
  std::vector<std::string> failures_;
  std::optional<Launchers> launchers_;
};

TEST_F(SandboxedStartTest, StartsACommandByALauncher) {
  Subject& subject = Start("echo out; echo err >&2; pwd; exit 3");
  ASSERT_TRUE(RunToTheEnd(subject));
  EXPECT_THAT(subject.owner.events, ElementsAre("started", "output", "exited", "closed", "gone"));
  EXPECT_EQ(subject.owner.out(), "out\n" + Directory() + "\n");
  EXPECT_EQ(subject.owner.err(), "err\n");
  EXPECT_EQ(subject->exit_code(), 3);
  EXPECT_THAT(LogLines(), ElementsAre(StartsWith("jail"), "entry 5"));
}

TEST_F(SandboxedStartTest, UsesOneLauncherForManyCommandsAtOnce) {
  for (int i = 0; i < 32; ++i) Start("exit 5");
  ASSERT_TRUE(RunUntil([&] { return std::ranges::all_of(subjects_, [](auto& subject) { return subject->over(); }); }));
  for (auto& subject : subjects_) EXPECT_EQ((*subject)->exit_code(), 5);
  EXPECT_THAT(LogLines("jail"), SizeIs(1));
  EXPECT_THAT(LogLines("entry"), SizeIs(32));
}

TEST_F(SandboxedStartTest, GivesTheCommandItsVariablesButNotTheServersSecret) {
  program_.KeepCommandsFrom(ServerAccess::OfSecret("s3cret"));
  auto request = Request("env");
  request.command->env = {{"PATH", "/usr/bin:/bin"}, {"A", "1"}, {"URL", "ws://x/s3cret"}};
  Subject& subject = Start(std::move(request));
  ASSERT_TRUE(RunToTheEnd(subject));
  EXPECT_THAT(subject.owner.out(), HasSubstr("A=1\n"));
  EXPECT_THAT(subject.owner.out(), Not(HasSubstr("URL")));
}

TEST_F(SandboxedStartTest, LooksABareNameUpInThePathOfTheCommand) {
  dir_.Write("bin/greet", "#!/bin/sh\necho hello\n", 0755);
  auto request = Request("");
  request.command = process::MakeCommand({.words = {"greet"}}, Directory() + "/bin");
  request.command->env = {{"PATH", Directory() + "/bin"}};
  request.command->cwd = "/";
  Subject& subject = Start(std::move(request));
  ASSERT_TRUE(RunToTheEnd(subject));
  EXPECT_EQ(subject.owner.out(), "hello\n");
  EXPECT_THAT(LogLines("helper"), IsEmpty());
}

TEST_F(SandboxedStartTest, AsksForATerminalAndASupervisor) {
  auto request = Request("true");
  request.io = process::Terminal{.size = {24, 80}};
  request.exec_supervisor = std::make_shared<const OwnedFd>(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  Subject& subject = Start(std::move(request));
  ASSERT_TRUE(RunToTheEnd(subject));
  EXPECT_THAT(LogLines("entry"), ElementsAre("entry terminal supervisor 6"));
}

TEST_F(SandboxedStartTest, TakesTheLongWayWhenTheLauncherCannotBeMade) {
  Behave("refuse");
  Subject& first = Start("echo hi");
  ASSERT_TRUE(RunToTheEnd(first));
  EXPECT_THAT(first.owner.events, ElementsAre("started", "output", "exited", "closed", "gone"));
  EXPECT_EQ(first.owner.out(), "hi\n");
  ASSERT_TRUE(RunUntil([&] { return !failures_.empty(); }));
  EXPECT_THAT(failures_, ElementsAre("there are no namespaces"));
  ASSERT_TRUE(RunToTheEnd(Start("true")));
  EXPECT_THAT(LogLines(), ElementsAre(StartsWith("jail"), "helper", "helper"));
}

TEST_F(SandboxedStartTest, TriesALauncherAgainAfterAWhile) {
  Use({.memory = 0ms});
  Behave("refuse");
  ASSERT_TRUE(RunToTheEnd(Start("true")));
  ASSERT_TRUE(RunUntil([&] { return !failures_.empty(); }));
  Behave("well");
  ASSERT_TRUE(RunToTheEnd(Start("true")));
  EXPECT_THAT(LogLines("jail"), SizeIs(2));
  EXPECT_THAT(LogLines("helper"), SizeIs(1));
}

TEST_F(SandboxedStartTest, TakesTheLongWayWhenTheLauncherIsLost) {
  Behave("die");
  Subject& subject = Start("echo hi");
  ASSERT_TRUE(RunToTheEnd(subject));
  EXPECT_THAT(subject.owner.events, ElementsAre("started", "output", "exited", "closed", "gone"));
  EXPECT_THAT(LogLines(), ElementsAre(StartsWith("jail"), "entry 5", "helper"));
  // A launcher that was killed is no failed launcher: the next command gets another.
  ASSERT_TRUE(RunUntil([&] { return launchers_->alive() == 0; }));
  Behave("well");
  ASSERT_TRUE(RunToTheEnd(Start("true")));
  EXPECT_THAT(LogLines("helper"), SizeIs(1));
  EXPECT_THAT(failures_, IsEmpty());
}

TEST_F(SandboxedStartTest, IgnoresTheReportOfASandboxThatWasLostBeforeTheStart) {
  Behave("unbegun");
  Subject& subject = Start("echo hi");
  ASSERT_TRUE(RunToTheEnd(subject));
  EXPECT_THAT(subject.owner.events, ElementsAre("started", "output", "exited", "closed", "gone"));
  EXPECT_THAT(LogLines("helper"), SizeIs(1));
  // The launcher has proved to be of no use.
  ASSERT_TRUE(RunUntil([&] { return !failures_.empty(); }));
  ASSERT_TRUE(RunToTheEnd(Start("true")));
  EXPECT_THAT(LogLines("jail"), SizeIs(1));
}

TEST_F(SandboxedStartTest, CommandsOutliveTheirLauncher) {
  Subject& subject = Start([&] {
    auto request = Request("read line; echo $line; exit 4");
    request.io = process::kOpenStdin;
    return request;
  }());
  ASSERT_TRUE(RunUntilStarted(subject));
  ASSERT_EQ(::kill(LauncherPid(), SIGKILL), 0);
  ASSERT_TRUE(RunUntil([&] { return !fs::exists("/proc/" + std::to_string(LauncherPid()) + "/exe"); }));
  subject->input()->Write(0, "still here\n", [](auto) {});
  ASSERT_TRUE(RunToTheEnd(subject));
  EXPECT_EQ(subject.owner.out(), "still here\n");
  EXPECT_EQ(subject->exit_code(), 4);
}

TEST_F(SandboxedStartTest, MakesAnotherLauncherAfterTheDeathOfTheFirst) {
  ASSERT_TRUE(RunToTheEnd(Start("true")));
  ASSERT_EQ(::kill(LauncherPid(), SIGKILL), 0);
  ASSERT_TRUE(RunUntil([&] { return launchers_->alive() == 0; }));
  ASSERT_TRUE(RunToTheEnd(Start("true")));
  EXPECT_THAT(LogLines("jail"), SizeIs(2));
  EXPECT_THAT(LogLines("helper"), IsEmpty());
}

TEST_F(SandboxedStartTest, KillsAndSignalsCommandsOfALauncher) {
  Subject& killed = Start("sleep 1000");
  Subject& signalled = Start("trap 'exit 9' TERM; echo ready; while :; do sleep 0.01; done");
  ASSERT_TRUE(RunUntilOutput(signalled, "ready"));
  ASSERT_TRUE(RunUntilStarted(killed));
  killed->Kill({});
  signalled->Signal(SIGTERM);
  ASSERT_TRUE(RunToTheEnd(killed) && RunToTheEnd(signalled));
  EXPECT_EQ(killed->exit_code(), 137);
  EXPECT_EQ(signalled->exit_code(), 9);
}

// The one worker is busy, so that the plan is not made before the test lets it.
class SandboxedStartPlanningTest : public SandboxedStartTest {
 protected:
  SandboxedStartPlanningTest() {
    workers_.Run([hold = hold_.get_future().share()] { hold.wait(); }, [] {});
  }
  ~SandboxedStartPlanningTest() override { Release(); }
  void Release() {
    if (!std::exchange(released_, true)) hold_.set_value();
  }

 private:
  std::promise<void> hold_;
  bool released_ = false;
};

TEST_F(SandboxedStartPlanningTest, CancelsAStartWhosePlanIsBeingMade) {
  Subject& subject = Start("echo hi");
  bool killed = false;
  subject->Kill([&] { killed = true; });
  ASSERT_TRUE(RunUntil([&] { return subject->gone(); }));
  EXPECT_TRUE(killed);
  EXPECT_THAT(subject.owner.events, ElementsAre("failed", "gone"));
  EXPECT_EQ(subject.owner.error->message, "the start was cancelled");
  Release();
  support::RunReady(loop_);
  EXPECT_THAT(LogLines(), IsEmpty());
}

// The one worker has made the plan when it does the next job, but the loop has not run since.
TEST_F(SandboxedStartPlanningTest, DoesNotStartACommandThatWasKilledWhenItsPlanWasReady) {
  Subject& subject = Start("echo hi");
  std::promise<void> planned;
  workers_.Run([&] { planned.set_value(); }, [] {});
  Release();
  ASSERT_EQ(planned.get_future().wait_for(support::kPatience), std::future_status::ready);
  subject->Kill({});
  ASSERT_TRUE(RunUntil([&] { return subject->gone(); }));
  EXPECT_THAT(subject.owner.events, ElementsAre("failed", "gone"));
  EXPECT_EQ(launchers_->alive(), 0u);
}

TEST_F(SandboxedStartPlanningTest, TerminatesACommandAsSoonAsItRuns) {
  Subject& subject = Start("exec sleep 1000");
  subject->Terminate(1h, {});
  Release();
  ASSERT_TRUE(RunToTheEnd(subject));
  EXPECT_EQ(subject->exit_code(), 128 + SIGTERM);
}

TEST_F(SandboxedStartPlanningTest, LimitsTheTimeOfAPlan) {
  Subject& subject = Start("echo hi");
  subject->CancelSlowStart(1ms);
  ASSERT_TRUE(RunUntil([&] { return subject->gone(); }));
  EXPECT_THAT(subject.owner.events, ElementsAre("failed", "gone"));
}

TEST_F(SandboxedStartTest, CancelsAStartThatItsLauncherDoesNotAnswer) {
  Behave("mute");
  Subject& subject = Start("echo hi");
  ASSERT_TRUE(RunUntil([&] { return !LogLines("entry").empty(); }));
  subject->Kill({});
  ASSERT_TRUE(RunUntil([&] { return subject->gone(); }));
  EXPECT_THAT(subject.owner.events, ElementsAre("failed", "gone"));
  EXPECT_THAT(LogLines("helper"), IsEmpty());
}

TEST_F(SandboxedStartTest, ReportsAMissingDirectoryAsAKeeperDoes) {
  auto request = Request("true");
  request.command->cwd = Directory() + "/missing";
  Subject& subject = Start(std::move(request));
  ASSERT_TRUE(RunUntil([&] { return subject->gone(); }));
  EXPECT_EQ(subject.owner.error->message,
            "enter directory " + Directory() + "/missing: No such file or directory (os error 2)");
  EXPECT_THAT(LogLines(), IsEmpty());
}

TEST_F(SandboxedStartTest, ReportsAHelperThatCannotBeStarted) {
  SandboxProgram broken({.helper = SealedProgram(Fail(ErrorKind::kSystem, "there is no helper"))}, "/usr/bin:/bin", "");
  Subject& subject = *subjects_.emplace_back(std::make_unique<Subject>());
  auto start = SandboxedStart::Of({.loop = loop_,
                                   .spawner = *spawner_,
                                   .workers = workers_,
                                   .program = broken,
                                   .launchers = *launchers_,
                                   .memory = memory_},
                                  Request("true"));
  subject.process = *process::Process::Start(loop_, std::move(start), process::Pipes{}, limits_, subject.owner);
  Behave("die");
  ASSERT_TRUE(RunUntil([&] { return subject->gone(); }));
  EXPECT_THAT(subject.owner.events, ElementsAre("failed", "gone"));
  EXPECT_EQ(subject.owner.error->message, "there is no helper");
}

}  // namespace
}  // namespace holdfast::sandbox
