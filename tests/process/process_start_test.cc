#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <sstream>

#include <fmt/format.h>

#include "process/process.h"
#include "process/process_fixture.h"
#include "support/scratch_dir.h"
#include "sys/file_limit.h"

namespace holdfast::process {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr char kHello[] = "#!/bin/sh\necho hello from $0\n";

Command Plain(std::string program, std::vector<std::string> argv = {}) {
  if (argv.empty()) argv = {program};
  return {.program = std::move(program), .search_path = std::nullopt, .argv = std::move(argv), .env = {}, .cwd = "/"};
}

// This class keeps signals ignored and blocked, as a server may find them at its start.
class HostileSignals {
 public:
  HostileSignals() {
    for (int signal : {SIGPIPE, SIGINT, SIGQUIT}) ::signal(signal, SIG_IGN);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGUSR1);
    ::pthread_sigmask(SIG_BLOCK, &set, &before_);
  }
  ~HostileSignals() {
    for (int signal : {SIGINT, SIGQUIT}) ::signal(signal, SIG_DFL);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t before_;
};

class ProcessStartTest : public ProcessFixture {
 protected:
  std::string FailureOf(Command command, const Io& io = Pipes{}) {
    Subject& subject = Run(std::move(command), io);
    EXPECT_EQ(subject.owner.events, (std::vector<std::string>{"failed", "gone"}));
    if (!subject.failed()) return "";
    return subject.owner.error->message;
  }

  Command Searched(const std::string& path) {
    Command command = Plain("tool");
    command.search_path = path;
    return command;
  }

  std::string OutputOf(Command command, const Io& io = Pipes{}) {
    Subject& subject = Run(std::move(command), io);
    EXPECT_FALSE(subject.failed()) << subject.owner.error->message;
    return subject.owner.out() + subject.owner.terminal();
  }

  std::string In(const std::string& name) const { return dir_.path() + "/" + name; }

  support::ScratchDir dir_;
};

TEST_F(ProcessStartTest, NamesTheMissingProgram) {
  EXPECT_EQ(FailureOf(Plain("/no/such")), "execute /no/such: No such file or directory (os error 2)");
}

TEST_F(ProcessStartTest, NamesTheMissingDirectory) {
  for (const Io& io : {Io(Pipes{}), Io(Terminal{})}) {
    Command command = Shell("true");
    command.cwd = "/no/such";
    EXPECT_EQ(FailureOf(command, io), "enter directory /no/such: No such file or directory (os error 2)");
  }
}

TEST_F(ProcessStartTest, BlamesTheDirectoryBeforeTheProgram) {
  Command command = Plain("/no/program");
  command.cwd = "/no/directory";
  EXPECT_THAT(FailureOf(command), StartsWith("enter directory /no/directory"));
}

TEST_F(ProcessStartTest, RefusesAFileAsDirectory) {
  Command command = Shell("true");
  command.cwd = "/etc/passwd";
  EXPECT_THAT(FailureOf(command), HasSubstr("Not a directory (os error 20)"));
}

TEST_F(ProcessStartTest, RefusesAProgramThatMayNotBeExecuted) {
  const std::string path = dir_.Write("tool", kHello, 0644);
  EXPECT_EQ(FailureOf(Plain(path)), "execute " + path + ": Permission denied (os error 13)");
  EXPECT_THAT(FailureOf(Plain(dir_.path())), HasSubstr("Permission denied (os error 13)"));
}

TEST_F(ProcessStartTest, TellsAMissingProgramFromOneThatCannotBeExecutedAndFromOtherFailures) {
  const auto kind_of = [this](const Command& command) { return Run(command).owner.error->kind; };
  Command elsewhere = Shell("true");
  elsewhere.cwd = "/no/such";
  EXPECT_EQ(kind_of(Plain("/no/such")), ErrorKind::kNoSuchProgram);
  EXPECT_EQ(kind_of(Plain("/etc/passwd")), ErrorKind::kCannotExecute);
  EXPECT_EQ(kind_of(elsewhere), ErrorKind::kSystem);
}

TEST_F(ProcessStartTest, RefusesAFileThatIsNoProgram) {
  const std::string path = dir_.Write("tool", "echo no shebang\n", 0755);
  EXPECT_EQ(FailureOf(Plain(path)), "execute " + path + ": Exec format error (os error 8)");
}

TEST_F(ProcessStartTest, RefusesAnArgumentThatTheKernelCannotPass) {
  const Command command = Plain("/bin/echo", {"echo", std::string(200'000, 'x')});
  EXPECT_EQ(FailureOf(command), "execute /bin/echo: Argument list too long (os error 7)");
}

TEST_F(ProcessStartTest, RunsTheFirstMatchInThePath) {
  dir_.Write("a/tool", kHello, 0755);
  dir_.Write("b/tool", kHello, 0755);
  EXPECT_EQ(OutputOf(Searched("/no/such:" + In("a") + ":" + In("b"))), "hello from " + In("a/tool") + "\n");
}

TEST_F(ProcessStartTest, SearchesOnPastADeniedMatch) {
  dir_.Write("a/tool", kHello, 0644);
  dir_.Write("b/tool", kHello, 0755);
  EXPECT_EQ(OutputOf(Searched(In("a") + ":" + In("b"))), "hello from " + In("b/tool") + "\n");
}

TEST_F(ProcessStartTest, RemembersADeniedMatchWhenThereIsNoOther) {
  dir_.Write("a/tool", kHello, 0644);
  EXPECT_EQ(FailureOf(Searched(In("a") + ":/no/such")), "execute tool: Permission denied (os error 13)");
}

TEST_F(ProcessStartTest, SkipsAFileInThePath) {
  dir_.Write("b/tool", kHello, 0755);
  EXPECT_EQ(OutputOf(Searched("/etc/passwd:" + In("b"))), "hello from " + In("b/tool") + "\n");
}

TEST_F(ProcessStartTest, SkipsAnOverlongPathElement) {
  dir_.Write("b/tool", kHello, 0755);
  EXPECT_EQ(OutputOf(Searched("/" + std::string(5000, 'x') + ":" + In("b"))), "hello from " + In("b/tool") + "\n");
}

TEST_F(ProcessStartTest, TakesAnEmptyPathElementForTheWorkingDirectory) {
  dir_.Write("tool", kHello, 0755);
  for (const char* path : {":/no/such", "/no/such:", "/no/such::/also/not", ":"}) {
    Command command = Searched(path);
    command.cwd = dir_.path();
    EXPECT_EQ(OutputOf(command), "hello from tool\n") << path;
  }
}

TEST_F(ProcessStartTest, EndsTheSearchAtAMatchThatIsNoProgram) {
  dir_.Write("a/tool", "no shebang", 0755);
  dir_.Write("b/tool", kHello, 0755);
  EXPECT_EQ(FailureOf(Searched(In("a") + ":" + In("b"))), "execute tool: Exec format error (os error 8)");
}

TEST_F(ProcessStartTest, PassesArgumentsAndNameUnchanged) {
  const Command command =
      Plain("/bin/sh", {"another name", "-c", "printf '%s|' \"$0\" \"$@\"; cat /proc/$$/cmdline | tr '\\0' '|'", "zero",
                        "", "with space", "\xff\xfe", "$HOME"});
  const std::string output = OutputOf(command);
  EXPECT_THAT(output, StartsWith("zero||with space|\xff\xfe|$HOME|"));
  EXPECT_THAT(output, HasSubstr("|another name|-c|"));
}

TEST_F(ProcessStartTest, GivesTheEnvironmentAndNothingElse) {
  Command command = Plain("/usr/bin/env", {"env", "-0"});
  command.env = {{"A", "1"}, {"EMPTY", ""}, {"MULTI", "a\nb=c"}};
  EXPECT_EQ(OutputOf(command), std::string("A=1\0EMPTY=\0MULTI=a\nb=c\0HOLDFAST_TEST_MARK=", 42) + mark_ + '\0');
}

TEST_F(ProcessStartTest, StartsInTheDirectory) {
  Command command = Plain("/bin/pwd", {"pwd", "-P"});
  command.cwd = dir_.path();
  EXPECT_EQ(OutputOf(command), dir_.path() + "\n");
}

TEST_F(ProcessStartTest, ReadsNothingFromAClosedInput) {
  EXPECT_EQ(OutputOf(Plain("/usr/bin/readlink", {"readlink", "/proc/self/fd/0"})), "/dev/null\n");
}

TEST_F(ProcessStartTest, OpensOnlyTheStandardDescriptors) {
  OwnedFd stray(::dup(1));  // not close-on-exec, like one that a library might open
  // Descriptor 3 is the directory that ls reads.
  EXPECT_EQ(OutputOf(Plain("/bin/ls", {"ls", "/proc/self/fd"})), "0\n1\n2\n3\n");
  EXPECT_EQ(OutputOf(Plain("/bin/ls", {"ls", "-C", "/proc/self/fd"}), Terminal{}), "0  1  2  3\r\n");
}

// Programs that use select, or that close every descriptor up to the limit, work badly with a high limit. And a command
// with as many descriptors as the server could keep the server from sending any.
TEST_F(ProcessStartTest, GivesTheSoftLimitOfDescriptorsThatTheServerWasGivenAndALowerHardOne) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  if (limit.rlim_max <= 300) GTEST_SKIP() << "the hard limit leaves nothing to raise";
  limit.rlim_cur = 300;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  auto spawner = Spawner::Create(loop_);
  ASSERT_TRUE(spawner);
  spawner_ = *std::move(spawner);
  const rlimit of_commands = sys::FileLimitOfCommands(limit);
  EXPECT_LT(of_commands.rlim_max, sys::UsualFileLimit(limit.rlim_max));
  EXPECT_EQ(Run(Shell("ulimit -Sn; ulimit -Hn")).owner.out(),
            fmt::format("{}\n{}\n", of_commands.rlim_cur, of_commands.rlim_max));
  rlimit own{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &own), 0);
  EXPECT_EQ(own.rlim_cur, sys::UsualFileLimit(limit.rlim_max));
}

TEST_F(ProcessStartTest, ResetsSignalsWhateverTheServerDoesWithThem) {
  HostileSignals hostile;
  for (const Io& io : {Io(Pipes{}), Io(Terminal{})}) {
    const std::string status = OutputOf(Plain("/bin/cat", {"cat", "/proc/self/status"}), io);
    for (const char* set : {"SigBlk", "SigIgn", "SigCgt"}) {
      EXPECT_THAT(status, HasSubstr(std::string(set) + ":\t0000000000000000")) << set;
    }
  }
}

TEST_F(ProcessStartTest, LeadsASessionAndAGroupOfItsOwn) {
  for (const Io& io : {Io(Pipes{}), Io(Terminal{})}) {
    Subject& subject = Run(Plain("/bin/cat", {"cat", "/proc/self/stat"}), io);
    std::istringstream stat(subject.owner.out() + subject.owner.terminal());
    std::string name, state;
    int pid = 0, parent = 0, group = 0, session = 0;
    stat >> pid >> name >> state >> parent >> group >> session;
    EXPECT_EQ(pid, subject->pid());
    EXPECT_EQ(group, pid);
    EXPECT_EQ(session, pid);
  }
}

TEST_F(ProcessStartTest, LeaksNoDescriptorAndNoZombie) {
  const size_t before = support::CountFds(::getpid());
  for (int i = 0; i < 20; ++i) {
    Run(Shell("exit 0"));
    Run(Shell("exit 0"), Terminal{});
    Run(Plain("/no/such"));
    subjects_.clear();
  }
  EXPECT_EQ(support::CountFds(::getpid()), before);
  EXPECT_TRUE(support::ChildrenOf(::getpid()).empty());
}

// Each start has one of a few low descriptors until its keeper has left the server's table. A start without one gets a
// copy of the whole table. No start fails or leaks a descriptor in either case.
TEST_F(ProcessStartTest, StartsMoreAtOnceThanThereAreSlots) {
  const size_t before = support::CountFds(::getpid());
  for (size_t i = 0; i < static_cast<size_t>(StartSlots::kEnd) + 40; ++i) Launch(Shell("echo out; exit 5"));
  ASSERT_TRUE(RunUntil([&] { return std::ranges::all_of(subjects_, [](auto& subject) { return subject->over(); }); }));
  for (auto& subject : subjects_) {
    EXPECT_EQ((*subject)->exit_code(), 5);
    EXPECT_EQ(subject->owner.out(), "out\n");
  }
  subjects_.clear();
  EXPECT_EQ(support::CountFds(::getpid()), before);
}

// When the keeper is killed, the server still holds the keeper's end of the control socket, with the command's
// descriptors in it.
TEST_F(ProcessStartTest, GetsOverAKeeperThatIsKilledAtOnce) {
  const size_t before = support::CountFds(::getpid());
  for (int i = 0; i < 20; ++i) {
    Launch(Shell("exit 0"));
    for (const pid_t keeper : support::ChildrenOf(::getpid())) ::kill(keeper, SIGKILL);
  }
  ASSERT_TRUE(RunUntil([&] { return std::ranges::all_of(subjects_, [](auto& s) { return s->process->gone(); }); }));
  subjects_.clear();
  EXPECT_EQ(support::CountFds(::getpid()), before);
}

TEST_F(ProcessStartTest, ReapsTheChildOfAFailedStart) {
  Run(Plain("/no/such"));
  EXPECT_TRUE(support::ChildrenOf(::getpid()).empty());
}

}  // namespace
}  // namespace holdfast::process
