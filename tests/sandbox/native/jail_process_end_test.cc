// The end of a jail: its commands go on, and a command that it has not started is never started.
#include <sys/stat.h>

#include <chrono>
#include <random>
#include <thread>

#include "sandbox/native/jail_fixture.h"
#include "sandbox/outcome.h"
#include "support/proc.h"

namespace holdfast::sandbox {
namespace {

class JailProcessEndTest : public JailFixture {
 protected:
  // Returns the processes of commands that are alive, in whichever sandbox.
  std::vector<pid_t> Living() const { return support::LivingWithVariable("MARK=" + workspace_.path()); }
  bool NothingIsLeft() const {
    ReapOrphans();
    return Living().empty() && support::ChildrenOf(::getpid()).empty();
  }
  // Starts jails until one of them has run a command. A jail runs none if something outside changes meanwhile,
  // for example because the reaper of the last jail removes placeholders. A server would use the helper then.
  void StartWorkingJail() {
    for (int tries = 0; jail() <= 0 && tries < 10; ++tries) {
      StartJail();
      Launched launched = Start("true");
      if (launched.AwaitExit() == 0) return;
      fmt::print("the jail has run nothing; its events: {}\n", fmt::join(launched.events, " "));
      EndJail(SIGKILL);
    }
  }
  // The test is a subreaper, as the keeper of a jail is.
  static void ReapOrphans() {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Users, JailProcessEndTest, testing::ValuesIn(UsersOfJails()), NameOfUser);

TEST_P(JailProcessEndTest, EndsWithItsSocket) {
  EXPECT_EQ(EndJail(), 0);
  EXPECT_TRUE(support::Eventually([&] { return NothingIsLeft(); }));
}

// A command could change another program than that, by a script which names /proc/self/exe as its interpreter.
TEST_P(JailProcessEndTest, EndsAtOnceIfItsProgramIsNotTheSealedOne) {
  EXPECT_EQ(EndJail(), 0);
  StartJail(kOther);
  EXPECT_EQ(EndJail(), kCannotEnforce << 8);
}

TEST_P(JailProcessEndTest, LeavesItsCommandsRunningWhenItIsKilled) {
  Launched launched = Start("trap 'echo trapped; exit 4' USR1; echo up; while :; do sleep 0.01; done");
  launched.AwaitOutput("up\n");
  EndJail(SIGKILL);
  launched.Signal(SIGUSR1);
  const Finished finished = Finish(std::move(launched));
  EXPECT_EQ(finished.status, 4 << 8);
  EXPECT_EQ(finished.out, "trapped\n");
}

TEST_P(JailProcessEndTest, LeavesItsCommandsRunningWhenItEnds) {
  Launched launched = Start("echo up; until [ -e end ]; do sleep 0.01; done; exit 3");
  launched.AwaitOutput("up\n");
  EXPECT_EQ(EndJail(), 0);
  workspace_.Write("end", "");
  EXPECT_EQ(launched.AwaitExit(), 3 << 8);
}

TEST_P(JailProcessEndTest, LeavesNothingWhenTheServerIsGone) {
  {
    std::vector<Launched> all;
    for (int i = 0; i < 5; ++i) {
      all.push_back(Start("trap '' TERM HUP; (setsid sleep 1000 &); echo up; sleep 1000"));
      all.back().AwaitOutput("up\n");
    }
    EXPECT_TRUE(support::Eventually([&] { return Living().size() >= 10; }));
    EndJail();
  }
  EXPECT_TRUE(support::Eventually([&] { return NothingIsLeft(); })) << Living().size();
  for (const char* const name : {".git", ".codex"}) {
    EXPECT_TRUE(support::Eventually([&] { return ::access((Workspace() + "/" + name).c_str(), F_OK) != 0; })) << name;
  }
}

// Each command makes a file when it runs. Whatever the moment of the kill, a socket without kBegun means that the file
// is not there, and a socket with it ends with kExited.
TEST_P(JailProcessEndTest, WasNotStartedIfItsSocketEndsBeforeItHasBegun) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> delay_us(0, 4000);
  int lost = 0, begun = 0;
  const auto both_seen = [&] { return lost > 0 && begun > 0; };
  for (int round = 0; round < 60 || (round < 600 && !both_seen()); ++round) {
    StartWorkingJail();
    ASSERT_GT(jail(), 0) << "round " << round;
    std::vector<Launched> all;
    for (int i = 0; i < 4; ++i) all.push_back(Start(fmt::format("echo > ran.{}.{}", round, i)));
    std::this_thread::sleep_for(std::chrono::microseconds(delay_us(random)));
    EndJail(SIGKILL);
    for (int i = 0; i < 4; ++i) {
      const std::string file = fmt::format("{}/ran.{}.{}", Workspace(), round, i);
      if (all[static_cast<size_t>(i)].AwaitBegun()) {
        ++begun;
        EXPECT_EQ(all[static_cast<size_t>(i)].AwaitExit(), 0);
        EXPECT_EQ(::access(file.c_str(), F_OK), 0) << file;
      } else {
        ++lost;
        EXPECT_NE(::access(file.c_str(), F_OK), 0) << file;
      }
    }
  }
  EXPECT_TRUE(both_seen()) << lost << " lost, " << begun << " begun";
  EXPECT_TRUE(support::Eventually([&] { return NothingIsLeft(); }));
}

}  // namespace
}  // namespace holdfast::sandbox
