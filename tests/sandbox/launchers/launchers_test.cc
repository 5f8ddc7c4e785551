#include "sandbox/launchers/launchers.h"

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/policy/builtin_policies.h"
#include "support/loop_runner.h"
#include "support/scratch_dir.h"
#include "sys/io.h"

namespace holdfast::sandbox {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// This script plays a jail, which never answers. It ends when its socket does. Its plan is the directory of the test.
constexpr char kProgram[] = R"(#!/usr/bin/python3
import os, socket, sys
directory = os.read(int(sys.argv[2]), 1000).decode()
with open(directory + '/log', 'a') as log: log.write('%d\n' % os.getpid())
if os.path.exists(directory + '/refuse'): sys.exit(3)
requests = socket.socket(fileno=int(sys.argv[3]))
kept = []
while True:
    bytes, fds, _, _ = socket.recv_fds(requests, 100, 10)
    if not bytes: break
    kept += fds
)";

SandboxSpec Sandbox() {
  SandboxSpec sandbox;
  sandbox.profile.policy = ReadOnly();
  return sandbox;
}

class LaunchersTest : public testing::Test {
 protected:
  LaunchersTest() {
    ::signal(SIGPIPE, SIG_IGN);
    EXPECT_TRUE(sys::ReserveLowFds());
    spawner_ = *process::Spawner::Create(loop_);
    Use({});
  }
  ~LaunchersTest() override {
    for (const char* session : {"one", "other"}) launchers_->End(session, [] {});
    EXPECT_TRUE(RunUntilAlive(0));
  }

  void Use(Launchers::Limits limits) {
    launchers_.emplace(loop_, *spawner_, program_, limits, [this](const std::string& session, const Error& why) {
      failures_.push_back(session + ": " + why.message);
    });
  }

  std::optional<Launchers::Id> Send(const std::string& session, unsigned char plan = 1) {
    const OwnedFd nothing = *sys::OpenDevNull();
    const int fd = nothing.get();
    return launchers_->Send(session, {.plan = dir_.path(), .digest = {plan}, .port_ruleset = nullptr}, {&fd, 1});
  }

  bool RunUntilAlive(size_t count) {
    return support::RunUntil(loop_, [&] { return launchers_->alive() == count; });
  }
  std::vector<pid_t> Pids() const {
    std::ifstream log(dir_.path() + "/log");
    return {std::istream_iterator<pid_t>(log), {}};
  }
  bool RunUntilPids(size_t count) {
    return support::RunUntil(loop_, [&] { return Pids().size() == count; });
  }

  support::ScratchDir dir_;
  loop::EventLoop loop_;
  std::unique_ptr<process::Spawner> spawner_;
  SandboxProgram program_{{.helper = SealedProgram::Begin(dir_.Write("program", kProgram, 0755))}, "/usr/bin:/bin", ""};
  std::vector<std::string> failures_;
  std::optional<Launchers> launchers_;
};

TEST_F(LaunchersTest, KeepOneLauncherForEachSessionAndPlan) {
  const auto first = Send("one");
  ASSERT_TRUE(first);
  EXPECT_EQ(Send("one"), first);
  EXPECT_NE(Send("other"), first);
  const auto second = Send("one", 2);
  EXPECT_NE(second, first);
  EXPECT_EQ(Send("one"), first);
  EXPECT_EQ(Send("one", 2), second);
  EXPECT_EQ(launchers_->alive(), 3u);
}

TEST_F(LaunchersTest, LetALauncherGoWhenAMountOfTheMachineHasChanged) {
  if (::unshare(CLONE_NEWNS) < 0 || ::mount(nullptr, "/", nullptr, MS_PRIVATE | MS_REC, nullptr) < 0) {
    GTEST_SKIP() << "mounts are not permitted here";
  }
  Use({});
  const auto first = Send("one");
  EXPECT_EQ(Send("one"), first);
  const support::ScratchDir place;
  ASSERT_EQ(::mount("tmpfs", place.path().c_str(), "tmpfs", 0, nullptr), 0);
  const auto second = Send("one");
  EXPECT_NE(second, first);
  EXPECT_EQ(Send("one"), second);
  ASSERT_EQ(::umount2(place.path().c_str(), MNT_DETACH), 0);
  EXPECT_NE(Send("one"), second);
}

TEST_F(LaunchersTest, LetALauncherGoThatIsNotUsed) {
  Use({.idle_time = 30ms});
  const auto first = Send("one");
  ASSERT_TRUE(first);
  ASSERT_TRUE(RunUntilPids(1));
  ASSERT_TRUE(RunUntilAlive(0));
  EXPECT_NE(Send("one"), first);
  EXPECT_THAT(failures_, IsEmpty());
}

TEST_F(LaunchersTest, LetTheOldestGoWhenThereAreTooMany) {
  Use({.launchers = 2});
  const auto one = Send("one"), other = Send("other");
  EXPECT_EQ(Send("one"), one);
  ASSERT_TRUE(Send("one", 2));
  EXPECT_EQ(Send("one"), one);
  EXPECT_NE(Send("other"), other);
}

TEST_F(LaunchersTest, AreNotUsedIfTheirNumberIsZero) {
  Use({.launchers = 0});
  EXPECT_FALSE(launchers_->Serve(Sandbox()));
  EXPECT_FALSE(Send("one"));
  EXPECT_EQ(launchers_->alive(), 0u);
}

TEST_F(LaunchersTest, ServeNoSandboxWithoutNamespaces) {
  SandboxSpec sandbox = Sandbox();
  EXPECT_TRUE(launchers_->Serve(sandbox));
  sandbox.legacy_landlock = true;
  EXPECT_FALSE(launchers_->Serve(sandbox));
  sandbox.legacy_landlock = false;
  sandbox.profile.type = ProfileType::kDisabled;
  EXPECT_FALSE(launchers_->Serve(sandbox));
  sandbox.proxies.emplace();
  EXPECT_TRUE(launchers_->Serve(sandbox));
}

TEST_F(LaunchersTest, EndWithTheirSession) {
  Send("one");
  const auto other = Send("other");
  ASSERT_TRUE(RunUntilPids(2));
  bool ended = false;
  launchers_->End("one", [&] { ended = true; });
  EXPECT_FALSE(ended);
  EXPECT_FALSE(Send("one"));
  ASSERT_TRUE(support::RunUntil(loop_, [&] { return ended; }));
  EXPECT_EQ(launchers_->alive(), 1u);
  EXPECT_EQ(Send("other"), other);
}

TEST_F(LaunchersTest, EndASessionThatHasNone) {
  bool ended = false;
  launchers_->End("one", [&] { ended = true; });
  EXPECT_TRUE(ended);
}

TEST_F(LaunchersTest, RememberALauncherThatCouldNotBeMade) {
  dir_.Write("refuse", "");
  ASSERT_TRUE(Send("one"));
  ASSERT_TRUE(RunUntilAlive(0));
  EXPECT_THAT(failures_, ElementsAre("one: the sandbox's helper ended before the command was started"));
  EXPECT_FALSE(Send("one"));
  EXPECT_TRUE(Send("other"));
}

TEST_F(LaunchersTest, ForgetTheFailuresOfASessionThatEnds) {
  dir_.Write("refuse", "");
  ASSERT_TRUE(Send("one"));
  ASSERT_TRUE(RunUntilAlive(0));
  launchers_->End("one", [] {});
  EXPECT_TRUE(Send("one"));
}

TEST_F(LaunchersTest, DoNotRememberALauncherThatHasStartedACommand) {
  dir_.Write("refuse", "");
  const auto first = Send("one");
  launchers_->OnLaunched(*first);
  ASSERT_TRUE(RunUntilAlive(0));
  EXPECT_THAT(failures_, SizeIs(1));
  EXPECT_TRUE(Send("one"));
}

TEST_F(LaunchersTest, DoNotRememberALauncherThatWasKilled) {
  ASSERT_TRUE(Send("one"));
  ASSERT_TRUE(RunUntilPids(1));
  ::kill(Pids()[0], SIGKILL);
  ASSERT_TRUE(RunUntilAlive(0));
  EXPECT_THAT(failures_, IsEmpty());
  EXPECT_TRUE(Send("one"));
}

TEST_F(LaunchersTest, LetALauncherGoThatHasLostARequest) {
  const auto first = Send("one");
  launchers_->OnLaunched(*first);
  launchers_->OnNotLaunched(*first);
  const auto next = Send("one");
  ASSERT_TRUE(next);
  EXPECT_NE(next, first);
}

}  // namespace
}  // namespace holdfast::sandbox
