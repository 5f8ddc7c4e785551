#include "files/workers/file_helpers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "loop/scope.h"
#include "loop/task.h"
#include "sandbox/launchers/without_jails.h"
#include "support/loop_runner.h"
#include "support/proc.h"
#include "support/scratch_dir.h"
#include "sys/io.h"

namespace holdfast::files {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// This script plays a file helper. $2 is the policy's directory; here it names what the script shall do. The script
// answers every request with its pid.
constexpr char kProgram[] = R"(#!/bin/sh
case $2 in
  /refused) echo 'failed 101 no such sandbox' >&6; exit 101;;
  /mute) exit 3;;
  /brief) exec <&- >&-; echo started >&6; exit 3;;
esac
[ "$2" = /slow ] && sleep 0.2
echo started >&6
exec 5<&- 6>&-
while read -r line; do
  [ "$2" = /mortal ] && exit 1
  [ "$2" = /liar ] && echo nonsense
  printf '{"status":"ok","payload":{"operation":"who","response":%s}}\n' $$
done
)";

sandbox::SandboxSpec Policy(std::string word) {
  sandbox::SandboxSpec spec;
  spec.profile.policy.files.emplace();
  spec.policy_cwd = "/" + std::move(word);
  return spec;
}

// One call of Acquire and its result.
struct Use {
  std::optional<Result<FileHelpers::Lease>> outcome;

  bool ready() const { return outcome.has_value(); }
  bool leased() const { return ready() && outcome->has_value(); }
  void Release() { outcome.reset(); }
  // Calls the file helper, which answers with its pid.
  Result<pid_t> Ask() {
    std::string json;
    TRY_VOID((**outcome)->Call("who", "{}", json));
    return std::stoi(json);
  }
};

class FileHelpersTest : public testing::Test {
 protected:
  FileHelpersTest() {
    ::signal(SIGPIPE, SIG_IGN);
    EXPECT_TRUE(sys::ReserveLowFds());
    program_.emplace(
        sandbox::SandboxPrograms{.helper = sandbox::SealedProgram::Begin(dir_.Write("program", kProgram, 0755))},
        "/usr/bin:/bin", "");
    spawner_ = *process::Spawner::Create(loop_);
    Boot({});
  }

  // Makes the FileHelpers. Unless the test sets an idle time, idle file helpers stay, however slow the machine is.
  void Boot(FileHelpers::Limits limits) {
    if (limits.idle_time == FileHelpers::Limits().idle_time) limits.idle_time = 1h;
    helpers_.reset();
    sandboxed_ = std::make_unique<sandbox::WithoutJails>(loop_, *spawner_, *program_);
    helpers_ = std::make_unique<FileHelpers>(sandboxed_->resources(), limits);
  }

  void TearDown() override {
    for (const char* session : {"a", "b", "c"}) {
      if (helpers_) helpers_->End(session, [] {});
    }
    EXPECT_TRUE(RunUntil([&] { return !helpers_ || helpers_->alive() == 0; }));
    EXPECT_TRUE(RunUntil([] {
      while (::waitpid(-1, nullptr, WNOHANG) > 0)
        continue;  // reaps the keepers of FileHelpers that were destroyed before
      return support::ChildrenOf(::getpid()).empty();
    }));
  }

  bool RunUntil(const std::function<bool()>& done) { return support::RunUntil(loop_, done); }
  // Runs everything that the loop can do without waiting.
  void Settle() { support::RunReady(loop_); }

  Use& Acquire(const std::string& session, const std::string& policy = "p") {
    Use& use = *uses_.emplace_back(std::make_unique<Use>());
    requests_.Start(AcquireFor(use, session, policy));
    return use;
  }
  loop::Task<> AcquireFor(Use& use, std::string session, std::string policy) {
    use.outcome = co_await helpers_->Acquire(std::move(session), Policy(std::move(policy)));
  }
  // A request that fails, and then starts another request.
  loop::Task<> AcquireForNext(Use*& next) {
    const auto lease = co_await helpers_->Acquire("a", Policy("slow"));
    EXPECT_FALSE(lease);
    next = &Acquire("b");
  }
  loop::Task<> AcquireInto(std::vector<FileHelpers::Lease>& leases, sandbox::SandboxSpec spec) {
    auto lease = co_await helpers_->Acquire("a", std::move(spec));
    leases.push_back(*std::move(lease));
  }
  // Leases a file helper, calls it, ends the lease and returns the pid of the file helper.
  pid_t Visit(const std::string& session, const std::string& policy = "p") {
    Use& use = Acquire(session, policy);
    EXPECT_TRUE(RunUntil([&] { return use.ready(); }));
    if (!use.leased()) {
      ADD_FAILURE() << use.outcome->error().message;
      return 0;
    }
    const auto pid = use.Ask();
    EXPECT_TRUE(pid) << pid.error().message;
    use.Release();
    return pid.value_or(0);
  }
  std::string ErrorOf(Use& use) {
    EXPECT_TRUE(RunUntil([&] { return use.ready(); }));
    return use.leased() ? "" : use.outcome->error().message;
  }

  loop::EventLoop loop_;
  std::unique_ptr<process::Spawner> spawner_;
  support::ScratchDir dir_;
  std::optional<sandbox::SandboxProgram> program_;
  std::unique_ptr<sandbox::WithoutJails> sandboxed_;
  std::unique_ptr<FileHelpers> helpers_;
  std::vector<std::unique_ptr<Use>> uses_;
  loop::Scope requests_;
};

TEST_F(FileHelpersTest, UsesAHelperAgainForTheSameSessionAndPolicy) {
  const pid_t first = Visit("a");
  EXPECT_EQ(Visit("a"), first);
  EXPECT_EQ(helpers_->alive(), 1u);
}

TEST_F(FileHelpersTest, SharesNoneBetweenSessionsOrPolicies) {
  const pid_t first = Visit("a"), other_session = Visit("b"), other_policy = Visit("a", "q");
  EXPECT_NE(first, other_session);
  EXPECT_NE(first, other_policy);
  EXPECT_NE(other_session, other_policy);
  EXPECT_EQ(Visit("b"), other_session);
  EXPECT_EQ(Visit("a", "q"), other_policy);
}

TEST_F(FileHelpersTest, TellsPoliciesApartByEverythingInThem) {
  std::vector<sandbox::SandboxSpec> all(6, Policy("p"));
  all[1].profile.policy.files->entries.push_back(
      {.where = sandbox::AbsolutePath{"/x"}, .access = sandbox::Access::kRead});
  all[2].profile.policy.files->entries.push_back(
      {.where = sandbox::AbsolutePath{"/x"}, .access = sandbox::Access::kDeny});
  all[3].project_roots = {"/r"};
  all[4].project_roots = {"/r", "/s"};
  all[5].legacy_landlock = !all[5].legacy_landlock;
  std::vector<FileHelpers::Lease> leases;
  for (int round = 0; round < 2; ++round) {
    for (const sandbox::SandboxSpec& spec : all) {
      requests_.Start(AcquireInto(leases, spec));
    }
    ASSERT_TRUE(RunUntil([&] { return leases.size() == all.size(); }));
    leases.clear();
    Settle();
    EXPECT_EQ(helpers_->alive(), all.size());
  }
}

TEST_F(FileHelpersTest, ServesOneAtATimeInTheirOrder) {
  Boot({.per_policy = 1});
  Use& first = Acquire("a");
  Use& second = Acquire("a");
  Use& third = Acquire("a");
  ASSERT_TRUE(RunUntil([&] { return first.ready(); }));
  Settle();
  EXPECT_FALSE(second.ready() || third.ready());
  first.Release();
  ASSERT_TRUE(RunUntil([&] { return second.ready(); }));
  EXPECT_FALSE(third.ready());
  second.Release();
  ASSERT_TRUE(RunUntil([&] { return third.ready(); }));
  EXPECT_EQ(helpers_->alive(), 1u);
}

TEST_F(FileHelpersTest, StartsAFurtherOneWhenARequestHasWaited) {
  Boot({.per_policy = 2, .patience = 20ms});
  Use& first = Acquire("a");
  ASSERT_TRUE(RunUntil([&] { return first.ready(); }));
  Use& second = Acquire("a");
  Settle();
  EXPECT_EQ(helpers_->alive(), 1u) << "not at once";
  ASSERT_TRUE(RunUntil([&] { return second.ready(); }));
  EXPECT_NE(*first.Ask(), *second.Ask());
  Use& third = Acquire("a");
  bool over = false;
  loop::Timer later(loop_, [&] { over = true; });
  later.Start(100ms);
  ASSERT_TRUE(RunUntil([&] { return over; }));
  EXPECT_FALSE(third.ready()) << "two are the limit";
  second.Release();
  EXPECT_TRUE(RunUntil([&] { return third.ready(); }));
}

TEST_F(FileHelpersTest, TheOldestIdleOneMakesRoom) {
  Boot({.helpers = 2});
  const pid_t a = Visit("a"), b = Visit("b");
  EXPECT_EQ(Visit("a"), a);  // so b has been idle for the longer time
  Settle();
  const pid_t c = Visit("c");
  EXPECT_TRUE(RunUntil([&] { return !support::IsAlive(b); }));
  EXPECT_EQ(Visit("a"), a);
  EXPECT_EQ(Visit("c"), c);
}

TEST_F(FileHelpersTest, WithoutAnIdleOneRequestsWaitForRoom) {
  Boot({.helpers = 1, .patience = 10ms});
  Use& a = Acquire("a");
  ASSERT_TRUE(RunUntil([&] { return a.ready(); }));
  Use& b = Acquire("b");
  bool over = false;
  loop::Timer later(loop_, [&] { over = true; });
  later.Start(50ms);
  ASSERT_TRUE(RunUntil([&] { return over; }));
  EXPECT_FALSE(b.ready());
  a.Release();
  EXPECT_TRUE(RunUntil([&] { return b.leased(); }));
}

TEST_F(FileHelpersTest, AnIdleOneEnds) {
  Boot({.idle_time = 50ms});
  const pid_t pid = Visit("a");
  EXPECT_TRUE(RunUntil([&] { return helpers_->alive() == 0; }));
  EXPECT_FALSE(support::IsAlive(pid));
  EXPECT_NE(Visit("a"), pid);
}

TEST_F(FileHelpersTest, OneInUseDoesNotEnd) {
  Boot({.idle_time = 20ms});
  Use& use = Acquire("a");
  ASSERT_TRUE(RunUntil([&] { return use.ready(); }));
  Visit("b");
  EXPECT_TRUE(RunUntil([&] { return helpers_->alive() == 1; }));
  EXPECT_TRUE(use.Ask());
}

TEST_F(FileHelpersTest, TheEndOfASessionKillsAllOfItAndNothingElse) {
  Boot({.patience = 1ms});
  const pid_t other = Visit("b"), idle = Visit("a", "q");
  Use& used = Acquire("a");
  Acquire("a", "slow");
  ASSERT_TRUE(RunUntil([&] { return used.ready(); }));
  const pid_t in_use = *used.Ask();
  bool done = false;
  helpers_->End("a", [&] {
    done = true;
    EXPECT_EQ(helpers_->alive(), 1u);
  });
  EXPECT_FALSE(done);
  ASSERT_TRUE(RunUntil([&] { return done; }));
  EXPECT_FALSE(support::IsAlive(idle));
  EXPECT_FALSE(support::IsAlive(in_use));
  EXPECT_FALSE(used.Ask());
  used.Release();
  Settle();
  EXPECT_EQ(Visit("b"), other);
}

TEST_F(FileHelpersTest, TheEndOfASessionWithoutHelpersIsToldAtOnce) {
  bool done = false;
  helpers_->End("a", [&] { done = true; });
  EXPECT_TRUE(done);
}

TEST_F(FileHelpersTest, RequestsOfAnEndedSessionAreToldSo) {
  Use& waiting = Acquire("a", "slow");
  bool done = false;
  helpers_->End("a", [&] { done = true; });
  ASSERT_TRUE(waiting.ready());
  EXPECT_EQ(ErrorOf(waiting), "the session is ending");
  EXPECT_TRUE(RunUntil([&] { return done; }));
}

// When the connection of a request has ended, the request is no longer in the way of others, and what it owns is
// destroyed.
TEST_F(FileHelpersTest, ARequestWhoseTaskEndsIsForgotten) {
  Boot({.per_policy = 1});
  Use& first = Acquire("a");
  ASSERT_TRUE(RunUntil([&] { return first.ready(); }));
  Use gone;
  {
    loop::Scope short_lived;
    short_lived.Start(AcquireFor(gone, "a", "p"));
  }
  Use& next = Acquire("a");
  first.Release();
  EXPECT_TRUE(RunUntil([&] { return next.leased(); }));
  EXPECT_FALSE(gone.ready());
}

// The end of a request that fails gives the turn to the next one, which asks for a file helper.
TEST_F(FileHelpersTest, WhatAFailedRequestSetsOffIsServed) {
  Use* next = nullptr;
  requests_.Start(AcquireForNext(next));
  Acquire("a", "slow");
  bool done = false;
  helpers_->End("a", [&] { done = true; });
  ASSERT_NE(next, nullptr);
  EXPECT_TRUE(RunUntil([&] { return done && next->leased(); }));
}

TEST_F(FileHelpersTest, AHelperThatDiesInUseFailsThatRequestAlone) {
  Use& use = Acquire("a", "mortal");
  Use& waiting = Acquire("a", "mortal");
  ASSERT_TRUE(RunUntil([&] { return use.ready(); }));
  EXPECT_EQ(use.Ask().error().message, "the sandbox's file helper has ended");
  use.Release();
  EXPECT_TRUE(RunUntil([&] { return waiting.leased(); }));
  EXPECT_TRUE(RunUntil([&] { return helpers_->alive() == 1; }));
}

TEST_F(FileHelpersTest, AHelperThatMakesNoSenseIsNotUsedAgain) {
  Use& use = Acquire("a", "liar");
  ASSERT_TRUE(RunUntil([&] { return use.ready(); }));
  EXPECT_FALSE(use.Ask());
  use.Release();
  EXPECT_TRUE(RunUntil([&] { return helpers_->alive() == 0; }));
}

TEST_F(FileHelpersTest, AHelperThatWasKilledWhenIdleIsNotGivenOut) {
  const pid_t killed = Visit("a");
  Settle();
  ::kill(killed, SIGKILL);
  // The loop does not run meanwhile, so the server has not seen the death yet.
  while (support::IsAlive(killed)) std::this_thread::sleep_for(1ms);
  EXPECT_NE(Visit("a"), killed);
}

TEST_F(FileHelpersTest, AStartThatFailsAnswersEveryRequestWithTheReason) {
  Use& first = Acquire("a", "refused");
  Use& second = Acquire("a", "refused");
  Use& other = Acquire("a");
  EXPECT_EQ(ErrorOf(first), "no such sandbox");
  EXPECT_EQ(ErrorOf(second), "no such sandbox");
  EXPECT_EQ(ErrorOf(other), "");
  EXPECT_THAT(ErrorOf(Acquire("a", "mute")), HasSubstr("ended"));
  EXPECT_THAT(ErrorOf(Acquire("a", "brief")), HasSubstr("ended with status"));
}

TEST_F(FileHelpersTest, AProgramThatIsMissingIsAReason) {
  const sandbox::SandboxProgram nowhere({.helper = sandbox::SealedProgram::Begin(dir_.path() + "/missing")},
                                        "/usr/bin:/bin", "");
  const sandbox::WithoutJails sandboxed(loop_, *spawner_, nowhere);
  helpers_ = std::make_unique<FileHelpers>(sandboxed.resources());
  EXPECT_THAT(ErrorOf(Acquire("a")), HasSubstr("No such file or directory"));
  EXPECT_TRUE(RunUntil([&] { return helpers_->alive() == 0; }));
  helpers_.reset();  // must be destroyed before the program
}

// When the lease ends, its file helper is gone, and another one is in use, maybe at the same address in memory.
TEST_F(FileHelpersTest, ALeaseThatComesBackLateFreesNoOther) {
  Boot({.per_policy = 1});
  Use& late = Acquire("a", "mortal");
  ASSERT_TRUE(RunUntil([&] { return late.ready(); }));
  EXPECT_FALSE(late.Ask());
  EXPECT_TRUE(RunUntil([&] { return helpers_->alive() == 0; }));
  Settle();
  Use& used = Acquire("a", "mortal");
  ASSERT_TRUE(RunUntil([&] { return used.ready(); }));
  Use& waiting = Acquire("a", "mortal");
  late.Release();
  Settle();
  EXPECT_FALSE(waiting.ready());
}

TEST_F(FileHelpersTest, ALeaseMayOutliveThePoolAndTheLoop) {
  Use use;
  std::optional<loop::EventLoop> loop(std::in_place);
  auto spawner = *process::Spawner::Create(*loop);
  std::optional<sandbox::WithoutJails> sandboxed(std::in_place, *loop, *spawner, *program_);
  helpers_ = std::make_unique<FileHelpers>(sandboxed->resources());
  requests_.Start(AcquireFor(use, "a", "p"));
  ASSERT_TRUE(support::RunUntil(*loop, [&] { return use.leased(); }));
  helpers_.reset();
  sandboxed.reset();
  spawner.reset();
  loop.reset();
  std::thread worker([&] { use.Release(); });
  worker.join();
}

TEST_F(FileHelpersTest, LeasesComeBackFromOtherThreadsWhileThePoolEnds) {
  Boot({.per_policy = 8, .patience = 1ms});
  std::vector<Use*> uses;
  for (int i = 0; i < 8; ++i) uses.push_back(&Acquire("a"));
  ASSERT_TRUE(RunUntil([&] { return std::ranges::all_of(uses, &Use::ready); }));
  std::vector<std::thread> workers;
  for (Use* use : uses) workers.emplace_back([use] { use->Release(); });
  helpers_.reset();
  for (std::thread& worker : workers) worker.join();
}

TEST_F(FileHelpersTest, ASessionThatEndsGetsNoFurtherHelper) {
  Use& first = Acquire("a");
  ASSERT_TRUE(RunUntil([&] { return first.leased(); }));
  bool done = false;
  helpers_->End("a", [&] { done = true; });
  Use& late = Acquire("a");
  ASSERT_TRUE(late.ready());
  EXPECT_EQ(ErrorOf(late), "the session is ending");
  EXPECT_EQ(helpers_->alive(), 1u);
  EXPECT_TRUE(RunUntil([&] { return done; }));
}

}  // namespace
}  // namespace holdfast::files
