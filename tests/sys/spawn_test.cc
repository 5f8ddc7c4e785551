#include "sys/spawn.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sys/argv.h"
#include "sys/io.h"

namespace holdfast::sys {
namespace {

constexpr size_t kStackSize = 64 << 10;

int StatusOf(pid_t child) {
  const int status = AwaitStatus(child);
  EXPECT_EQ(::waitpid(child, nullptr, WNOHANG), -1) << "reaped";
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(SpawnTest, WhatItWritesIsSeenHereAndWhatItReturnsIsItsStatus) {
  pid_t written = 0;
  auto body = [&] {
    written = ::getpid();
    return 7;
  };
  const auto child = Spawn(Sharing::kMemory, body);
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_NE(*child, ::getpid());
  EXPECT_EQ(written, *child) << "waited for";
  EXPECT_EQ(StatusOf(*child), 7);
}

TEST(SpawnTest, GoesOnWhenTheChildHasExecutedAProgram) {
  auto body = [] {
    ::execl("/bin/sh", "sh", "-c", "exit 3", nullptr);
    return 1;
  };
  const auto child = Spawn(Sharing::kMemory, body);
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_EQ(StatusOf(*child), 3);
}

TEST(SpawnTest, OnlyASharedTableKeepsWhatTheChildOpens) {
  int opened = -1;
  auto body = [&] {
    opened = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::execl("/bin/true", "true", nullptr);
    return 1;
  };
  for (const Sharing sharing : {Sharing::kMemory, Sharing::kMemoryAndDescriptors}) {
    const auto child = Spawn(sharing, body);
    ASSERT_TRUE(child) << child.error().message;
    EXPECT_EQ(StatusOf(*child), 0);
    EXPECT_EQ(::fcntl(opened, F_GETFD) >= 0, sharing == Sharing::kMemoryAndDescriptors);
    if (sharing == Sharing::kMemoryAndDescriptors) ::close(opened);
  }
}

TEST(SpawnTest, TheStackHasTheSizeThatWasAskedFor) {
  auto body = [] {
    volatile char large[kStackSize / 2];
    for (size_t i = 0; i < sizeof large; ++i) large[i] = static_cast<char>(i);
    return static_cast<int>(large[5]);
  };
  const auto child = Spawn(Sharing::kMemory, body, kStackSize + 1);
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_EQ(StatusOf(*child), 5);
}

TEST(SpawnTest, AChildThatSharesNothingLeavesTheMemoryAlone) {
  int written = 0;
  auto body = [&] {
    written = 7;
    return written;
  };
  const auto child = Spawn(Sharing::kNothing, body);
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_EQ(StatusOf(*child), 7);
  EXPECT_EQ(written, 0);
}

// A signal handler of the parent that ran in the child would change the memory of both.
TEST(SpawnTest, ABodyOnSharedMemoryRunsWithBlockedSignalsAndTheParentDoesNotAfterwards) {
  sigset_t in_child, here;
  auto body = [&] { return ::pthread_sigmask(SIG_BLOCK, nullptr, &in_child); };
  const auto child = Spawn(Sharing::kMemory, body);
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_EQ(StatusOf(*child), 0);
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, nullptr, &here), 0);
  EXPECT_EQ(::sigismember(&in_child, SIGTERM), 1);
  EXPECT_EQ(::sigismember(&here, SIGTERM), 0);
}

TEST(SpawnTest, TheStatusOfAChildThatIsNoneIsZero) { EXPECT_EQ(AwaitStatus(::getpid()), 0); }

// The status and the output of a shell that runs `script` with "word" as its standard input.
struct ScriptRun {
  int status;
  std::string out;
};

ScriptRun RunScript(const std::string& script, Program::Signals signals, Program::Group group) {
  auto in = MakePipe(OurEnd::kWrite), out = MakePipe(OurEnd::kRead);
  const std::vector<std::string> words = {"sh", "-c", script}, variables = {"NAME=value"};
  const Argv argv(words), environment(variables);
  const auto child = SpawnProgram({.path = "/bin/sh",
                                   .argv = argv.data(),
                                   .environment = environment.data(),
                                   .streams = {in->read_end.get(), out->write_end.get(), out->write_end.get()},
                                   .signals = signals,
                                   .group = group});
  if (!child) return {-1, child.error().error.message};
  EXPECT_EQ(Write(in->write_end.get(), "word", 4), 4);
  in->write_end.Reset();
  const int status = StatusOf(*child);
  std::array<char, 512> text;
  const ssize_t size = Read(out->read_end.get(), text.data(), text.size());
  return {status, std::string(text.data(), size > 0 ? static_cast<size_t>(size) : 0)};
}

TEST(SpawnProgramTest, TheProgramHasItsStreamsAndItsEnvironmentAlone) {
  const auto run = RunScript("cat; echo $NAME $HOME >&2; exit 3", Program::Signals::kFresh, Program::Group::kOfParent);
  EXPECT_EQ(run.status, 3);
  EXPECT_EQ(run.out, "wordvalue\n");
}

TEST(SpawnProgramTest, FreshSignalsAreNeitherIgnoredNorBlocked) {
  const auto before = std::signal(SIGTERM, SIG_IGN);
  const std::string kill_itself = "kill -TERM $$; echo survived";
  const auto fresh = RunScript(kill_itself, Program::Signals::kFresh, Program::Group::kOfParent);
  const auto inherited = RunScript(kill_itself, Program::Signals::kBlocked, Program::Group::kOfParent);
  (void)std::signal(SIGTERM, before);
  EXPECT_EQ(fresh.status, -SIGTERM);
  EXPECT_EQ(inherited.out, "survived\n");
}

TEST(SpawnProgramTest, BlockedSignalsWait) {
  const auto run = RunScript("kill -TERM $$; echo survived", Program::Signals::kBlocked, Program::Group::kOfParent);
  EXPECT_EQ(run.out, "survived\n");
}

TEST(SpawnProgramTest, AGroupOfItsOwnHasItsNumber) {
  const std::string compare = "read -r pid name state parent group rest < /proc/$$/stat; test $pid = $group";
  EXPECT_EQ(RunScript(compare, Program::Signals::kFresh, Program::Group::kOwn).status, 0);
  EXPECT_EQ(RunScript(compare, Program::Signals::kFresh, Program::Group::kOfParent).status, 1);
}

TEST(SpawnProgramTest, AFileIsExecutedInsteadOfThePath) {
  const OwnedFd file(::open("/bin/true", O_PATH | O_CLOEXEC));
  const std::vector<std::string> words = {"true"};
  const Argv argv(words), environment;
  const auto child = SpawnProgram({.path = "/no/such/program",
                                   .file = file.get(),
                                   .argv = argv.data(),
                                   .environment = environment.data(),
                                   .streams = {0, 1, 2}});
  ASSERT_TRUE(child) << child.error().error.message;
  EXPECT_EQ(StatusOf(*child), 0);
}

TEST(SpawnProgramTest, AProgramThatCannotBeExecutedIsAnErrorAndLeavesNoChild) {
  const Argv nothing;
  const auto child = SpawnProgram(
      {.path = "/no/such/program", .argv = nothing.data(), .environment = nothing.data(), .streams = {0, 1, 2}});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().step, NotSpawned::Step::kExecution);
  EXPECT_EQ(child.error().error.message, "start /no/such/program: No such file or directory");
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

TEST(SpawnProgramTest, AStreamThatHasItsNumberAlreadyIsInherited) {
  const OwnedFd before(::dup(STDIN_FILENO)), nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::dup3(nothing.get(), STDIN_FILENO, O_CLOEXEC), STDIN_FILENO);
  const std::vector<std::string> words = {"sh", "-c", "test -e /proc/self/fd/0"};
  const Argv argv(words), environment;
  const auto child = SpawnProgram(
      {.path = "/bin/sh", .argv = argv.data(), .environment = environment.data(), .streams = {STDIN_FILENO, 1, 2}});
  ::dup2(before.get(), STDIN_FILENO);
  ASSERT_TRUE(child) << child.error().error.message;
  EXPECT_EQ(StatusOf(*child), 0);
}

}  // namespace
}  // namespace holdfast::sys
