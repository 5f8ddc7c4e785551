#include "escalate/outside/outside_command.h"

#include <fcntl.h>
#include <sys/wait.h>

#include <filesystem>

#include <fmt/format.h>

#include "escalate/outside/outside_fixture.h"
#include "support/contents.h"
#include "support/scratch_dir.h"

namespace holdfast::escalate {
namespace {

using testing::ElementsAre;
using testing::Pair;

using OutsideCommandTest = OutsideFixture;

TEST_F(OutsideCommandTest, EndsWithTheExitCodeOfTheCommand) {
  Start(Script("exit 42"));
  EXPECT_EQ(AwaitEnd(), Ending{.exit_code = 42});
}

TEST_F(OutsideCommandTest, TellsADeathByASignalFromTheExitCodeThatAShellShowsForIt) {
  Start(Script("kill -SEGV $$"));
  EXPECT_EQ(AwaitEnd(), Ending{.signal = SIGSEGV});
  observer_.ending.reset();
  Start(Script("exit 139"));
  EXPECT_EQ(AwaitEnd(), Ending{.exit_code = 139});
}

TEST_F(OutsideCommandTest, HasExactlyTheDescriptorsThatArePassed) {
  OutsideOrder order = Order({"/bin/ls", "/proc/self/fd"});
  const OwnedFd out = AddPipe(order, 1), three = AddPipe(order, 3), far = AddPipe(order, 200);
  Start(std::move(order));
  EXPECT_EQ(ReadToEnd(out), "0\n1\n200\n3\n");  // standard input is closed, so 0 is the directory that ls reads
  EXPECT_EQ(AwaitEnd(), Ending{});
}

TEST_F(OutsideCommandTest, PutsEachDescriptorAtItsNumberWhereverItArrives) {
  const std::vector<int> numbers = {9, 1, 7, 200, 3, 5, 8, 6};
  std::string script;
  for (int number : numbers) script += fmt::format("echo {} >&{};", number, number);
  OutsideOrder order = Script(script);
  std::vector<OwnedFd> pipes;
  for (int number : numbers) pipes.push_back(AddPipe(order, number));
  Start(std::move(order));
  for (size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(ReadToEnd(pipes[i]), fmt::format("{}\n", numbers[i]));
  EXPECT_EQ(AwaitEnd(), Ending{});
}

TEST_F(OutsideCommandTest, PassesMoreDescriptorsThanOneMessageHolds) {
  constexpr int kCount = 600;
  OutsideOrder order = Script("set -- /proc/$$/fd/*; echo $#");
  const OwnedFd out = AddPipe(order, 1);
  for (int i = 2; i <= kCount; ++i) order.fds.push_back({kCount + 2 - i, *sys::OpenDevNull()});
  Start(std::move(order));
  // bash has one more, by which it reads the directory.
  EXPECT_EQ(ReadToEnd(out), fmt::format("{}\n", kCount + 1));
}

TEST_F(OutsideCommandTest, RunsInTheDirectoryWithTheUmask) {
  const support::ScratchDir directory;
  OutsideOrder order = Script("pwd; umask");
  order.directory = Directory(directory.path());
  order.state.umask = 027;
  EXPECT_EQ(OutputOf(std::move(order)), std::string(directory.path()) + "\n0027\n");
}

TEST_F(OutsideCommandTest, HasTheExactEnvironmentAlsoWhereItIsMalformed) {
  OutsideOrder order = Order({"/bin/cat", "/proc/self/environ"});
  order.environment = {"B=2", "A=1", "NOEQUALS", "=nameless", "A=3", "", "LATIN=\xe9"};
  std::string expected;
  for (const std::string& variable : order.environment) (expected += variable) += '\0';
  EXPECT_EQ(OutputOf(std::move(order)), expected);
}

TEST_F(OutsideCommandTest, HasTheExactArguments) {
  OutsideOrder order = Order({"/bin/cat"});
  order.argv = {"-renamed", "--", "/proc/self/cmdline", "a b\n", "/no/\xff"};
  std::string expected;
  for (const std::string& argument : order.argv) (expected += argument) += '\0';
  EXPECT_THAT(OutputOf(std::move(order)), testing::StartsWith(expected));  // complaints about the last two follow
}

TEST_F(OutsideCommandTest, TakesTwentyThousandArguments) {
  OutsideOrder order = Script("echo $# ${20000}");
  order.argv.emplace_back("name");
  for (int i = 1; i <= 20'000; ++i) order.argv.push_back(fmt::format("argument-{}", i));
  EXPECT_EQ(OutputOf(std::move(order)), "20000 argument-20000\n");
}

TEST_F(OutsideCommandTest, RefusesATextWithANul) {
  for (int i = 0; i < 3; ++i) {
    OutsideOrder order = Script("true");
    const std::string text("A=\0B", 4);
    if (i == 0) order.argv.push_back(text);
    if (i == 1) order.environment.push_back(text);
    if (i == 2) order.path = text;
    const auto command = OutsideCommand::Start(loop_, *spawner_, std::move(order), observer_);
    ASSERT_FALSE(command);
    EXPECT_EQ(command.error().message, "a text of the command contains a NUL byte");
  }
}

TEST_F(OutsideCommandTest, IgnoresAndBlocksTheSignalsThatItsCallerDid) {
  OutsideOrder order = Order({"/bin/grep", "-E", "^Sig(Ign|Blk)", "/proc/self/status"});
  order.state.ignored_signals = 1UL << (SIGHUP - 1) | 1UL << (SIGRTMAX - 1);
  order.state.blocked_signals = 1UL << (SIGUSR1 - 1) | 1UL << (SIGTERM - 1);
  EXPECT_EQ(OutputOf(std::move(order)), "SigBlk:\t0000000000004200\nSigIgn:\t8000000000000001\n");
}

TEST_F(OutsideCommandTest, HasTheNicenessOfItsCaller) {
  OutsideOrder order = Order({"/usr/bin/nice"});
  order.state.nice = 7;
  EXPECT_EQ(OutputOf(std::move(order)), "7\n");
}

TEST_F(OutsideCommandTest, EndsLikeInAShellIfTheProgramIsMissing) {
  EXPECT_EQ(OutputOf(Order({"/no/such/program"})), "/no/such/program: No such file or directory\n");
  EXPECT_EQ(observer_.ending, Ending{.exit_code = 127});
}

TEST_F(OutsideCommandTest, EndsLikeInAShellIfTheProgramCannotBeExecuted) {
  EXPECT_EQ(OutputOf(Order({"/etc/passwd"})), "/etc/passwd: Permission denied\n");
  EXPECT_EQ(observer_.ending, Ending{.exit_code = 126});
}

TEST_F(OutsideCommandTest, RunsInTheDirectoryThatWasOpenedWhateverIsAtItsPath) {
  const support::ScratchDir parent;
  const std::string path = parent.path() + "/sub";
  std::filesystem::create_directory(path);
  OutsideOrder order = Script("pwd -P");
  order.directory = Directory(path);
  std::filesystem::rename(path, parent.path() + "/moved");
  std::filesystem::create_symlink("/etc", path);
  EXPECT_EQ(OutputOf(std::move(order)), parent.path() + "/moved\n");
}

TEST_F(OutsideCommandTest, DoesNotRunInAnotherDirectoryThanItsCallers) {
  OutsideOrder order = Script("echo ran");
  order.directory = std::make_shared<const OwnedFd>(::open("/etc/passwd", O_PATH | O_CLOEXEC));
  EXPECT_EQ(OutputOf(std::move(order)), "cd: Not a directory\n");
  EXPECT_EQ(observer_.ending, Ending{.exit_code = 126});
}

TEST_F(OutsideCommandTest, PassesSignalsOnToTheWholeGroup) {
  OutsideOrder order =
      Script("trap 'wait $!; exit 7' TERM; (trap 'echo child; exit' TERM; echo ready; read -u 9 forever) & wait");
  const OwnedFd out = AddPipe(order, 1);
  auto silence = sys::MakePipe(sys::OurEnd::kWrite);
  ASSERT_TRUE(silence);
  order.fds.push_back({9, std::move(silence->read_end)});
  Start(std::move(order));
  ASSERT_TRUE(AwaitText(out, "ready"));
  command_->Signal(SIGTERM);
  EXPECT_TRUE(AwaitText(out, "child"));
  EXPECT_EQ(AwaitEnd(), Ending{.exit_code = 7});
}

TEST_F(OutsideCommandTest, ASignalRightAfterTheStartFindsTheMaskOfTheCommand) {
  for (int i = 0; i < 20; ++i) {
    observer_.ending.reset();
    OutsideOrder order = Script("exit 3");
    order.state.ignored_signals = 1UL << (SIGTERM - 1);
    order.state.blocked_signals = 1UL << (SIGUSR1 - 1);
    Start(std::move(order));
    command_->Signal(SIGTERM);
    command_->Signal(SIGUSR1);
    ASSERT_EQ(AwaitEnd(), Ending{.exit_code = 3});
  }
}

TEST_F(OutsideCommandTest, ASignalRightAfterTheStartIsNotLost) {
  Start(Script("sleep 1000"));
  command_->Signal(SIGUSR2);
  EXPECT_EQ(AwaitEnd(), Ending{.signal = SIGUSR2});
}

TEST_F(OutsideCommandTest, StopsAndContinuesLikeAJob) {
  OutsideOrder order = Script("echo ready; while :; do read -t 0.01 -u 9; [ $? = 0 ] && exit 5; done");
  const OwnedFd out = AddPipe(order, 1);
  auto word = sys::MakePipe(sys::OurEnd::kWrite);
  ASSERT_TRUE(word);
  order.fds.push_back({9, std::move(word->read_end)});
  Start(std::move(order));
  ASSERT_TRUE(AwaitText(out, "ready"));
  command_->Signal(SIGTSTP);
  ASSERT_TRUE(RunUntil([&] { return observer_.stops.size() == 1; }));
  command_->Signal(SIGCONT);
  command_->Signal(SIGSTOP);
  ASSERT_TRUE(RunUntil([&] { return observer_.stops.size() == 2; }));
  EXPECT_THAT(observer_.stops, ElementsAre(Pair(SIGTSTP, 0), Pair(SIGSTOP, 1)));
  ASSERT_EQ(sys::Write(word->write_end.get(), "go\n", 3), 3);
  command_->Signal(SIGCONT);
  EXPECT_EQ(AwaitEnd(), Ending{.exit_code = 5});
}

TEST_F(OutsideCommandTest, AStopIsToldOnceUntilTheOwnerContinuesTheCommand) {
  OutsideOrder order = Script(
      "me=$BASHPID; (for i in 1 2 3; do while ! grep -q '^State:.T' /proc/$me/status; do :; done; kill -CONT $me; "
      "done) &"
      "kill -STOP $me; kill -STOP $me; kill -STOP $me; exit 6");
  Start(std::move(order));
  EXPECT_EQ(AwaitEnd(), Ending{.exit_code = 6});
  EXPECT_THAT(observer_.stops, ElementsAre(Pair(SIGSTOP, 0)));
}

TEST_F(OutsideCommandTest, KillsWhatTheCommandLeavesBehind) {
  Start(Script("setsid sleep 1000 & exit 0"));
  EXPECT_EQ(AwaitEnd(), Ending{});
  EXPECT_TRUE(NothingIsLeft());
}

TEST_F(OutsideCommandTest, KillsEverythingWhenItIsDestroyed) {
  Start(Script("trap '' TERM HUP; setsid sleep 1000 & sleep 1000 & wait"));
  ASSERT_TRUE(RunUntil([&] { return support::LivingWithVariable(Mark()).size() == 3; }));
  command_.reset();
  EXPECT_TRUE(NothingIsLeft());
  EXPECT_FALSE(observer_.ending);
}

TEST_F(OutsideCommandTest, KillsAStoppedCommandWhenItIsDestroyed) {
  Start(Script("kill -STOP $$"));
  ASSERT_TRUE(RunUntil([&] { return !observer_.stops.empty(); }));
  command_.reset();
  EXPECT_TRUE(NothingIsLeft());
}

TEST_F(OutsideCommandTest, CanBeDestroyedBeforeItsStartIsKnown) {
  Start(Script("sleep 1000"));
  command_.reset();
  EXPECT_TRUE(NothingIsLeft());
}

TEST_F(OutsideCommandTest, CanBeDestroyedByItsObserver) {
  struct Destroyer : OutsideObserver {
    void OnStopped(int, unsigned) override {}
    void OnEnded(const Ending& end) override {
      ending = end;
      command.reset();
    }
    std::unique_ptr<OutsideCommand> command;
    std::optional<Ending> ending;
  } destroyer;
  destroyer.command = *OutsideCommand::Start(loop_, *spawner_, Script("exit 9"), destroyer);
  ASSERT_TRUE(RunUntil([&] { return destroyer.ending.has_value(); }));
  EXPECT_EQ(destroyer.ending, Ending{.exit_code = 9});
  EXPECT_TRUE(NothingIsLeft());
}

TEST_F(OutsideCommandTest, ACommandThatKillsItsKeeperCountsAsKilled) {
  Start(Script("setsid sleep 1000 & kill -KILL $PPID; sleep 1000"));
  EXPECT_EQ(AwaitEnd(), Ending{.signal = SIGKILL});
  EXPECT_TRUE(NothingIsLeft());
}

TEST_F(OutsideCommandTest, LeavesNoDescriptorInTheServer) {
  const auto run = [&] {
    observer_.ending.reset();
    EXPECT_EQ(OutputOf(Script("echo done")), "done\n");
    command_.reset();
    EXPECT_TRUE(NothingIsLeft());
    support::RunReady(loop_);
  };
  run();
  const size_t before = support::CountFds(::getpid());
  for (int i = 0; i < 5; ++i) run();
  EXPECT_LE(support::CountFds(::getpid()), before);
}

TEST_F(OutsideCommandTest, LeavesNothingWhenTheServerIsKilled) {
  const pid_t server = ::fork();
  if (server == 0) {
    loop::EventLoop loop;
    auto spawner = process::Spawner::Create(loop);
    const auto command =
        OutsideCommand::Start(loop, **spawner, Script("trap '' HUP; setsid sleep 1000 & sleep 1000 & wait"), observer_);
    loop.Run();
    ::_exit(0);
  }
  EXPECT_TRUE(RunUntil([&] { return support::LivingWithVariable(Mark()).size() == 3; }));
  ::kill(server, SIGKILL);
  EXPECT_TRUE(RunUntil([&] {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;  // reaps the server, and the processes that it leaves
    return support::ChildrenOf(::getpid()).empty() && support::LivingWithVariable(Mark()).empty();
  }));
}

}  // namespace
}  // namespace holdfast::escalate
