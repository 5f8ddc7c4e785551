#include "sandbox/jail/placeholder_reaper.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "process/keeper/protocol.h"
#include "sandbox/jail/placeholder_files.h"
#include "sandbox/jail/placeholders.h"
#include "support/eventually.h"
#include "support/scratch_dir.h"
#include "sys/descriptor_passing.h"
#include "sys/io.h"
#include "sys/pidfd.h"
#include "sys/socket_pair.h"

namespace holdfast::sandbox {
namespace {

using process::KeeperEvent;
using process::KeeperEventKind;
using support::Eventually;

bool Exists(const std::string& path) {
  struct stat status;
  return ::lstat(path.c_str(), &status) == 0;
}

ino_t InodeOf(const std::string& path) {
  struct stat status = {};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
  return status.st_ino;
}

// LaunchedCommand is a process that makes the placeholders as pid 1 of a command does, and lives until it is killed.
class LaunchedCommand {
 public:
  LaunchedCommand(const std::vector<Placeholder>& wanted, const ReapedCommand& command) {
    auto made = sys::MakePipe(sys::OurEnd::kRead);
    pid_ = ::fork();
    if (pid_ == 0) {
      const auto held = MakeAsFirstProcess(wanted, command);
      (void)sys::Write(made->write_end.get(), held ? "y" : "n", 1);
      ::close(command.reaper);
      for (;;) ::pause();
    }
    made->write_end.Reset();
    char answer = 0;
    EXPECT_TRUE(Eventually([&] { return sys::Read(made->read_end.get(), &answer, 1) == 1; }));
    EXPECT_EQ(answer, 'y');
  }
  ~LaunchedCommand() { Kill(); }
  LaunchedCommand(const LaunchedCommand&) = delete;
  LaunchedCommand& operator=(const LaunchedCommand&) = delete;

  void Kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, -1), nullptr, 0);
  }

 private:
  pid_t pid_;
};

class PlaceholderReaperTest : public testing::Test {
 protected:
  PlaceholderReaperTest() { Start(wanted_); }

  // Starts a reaper, and leaves the one before.
  void Start(const std::vector<Placeholder>& wanted) {
    auto pair = sys::MakeSocketPair(sys::SocketKind::kPacket);
    socket_ = std::move(pair->ours);
    EXPECT_TRUE(StartReaper(wanted, std::move(pair->theirs), AtEndOfSocket::kAwait));
  }
  ~PlaceholderReaperTest() override {
    socket_.Reset();
    while (::waitpid(-1, nullptr, 0) > 0) {
    }
  }

  std::string In(const std::string& name) const { return scratch_.path() + "/" + name; }
  bool AllExist() const { return Exists(In(".git")) && Exists(In(".codex")); }
  bool NoneExists() const { return !Exists(In(".git")) && !Exists(In(".codex")); }

  support::ScratchDir scratch_;
  const std::vector<Placeholder> wanted_ = {{.path = In(".git")}, {.path = In(".codex")}};
  OwnedFd socket_;
};

TEST_F(PlaceholderReaperTest, RemovesThePlaceholdersOfACommandThatWasKilled) {
  LaunchedCommand command(wanted_, {.reaper = socket_.get(), .number = 1});
  EXPECT_TRUE(AllExist());
  command.Kill();
  EXPECT_TRUE(Eventually([&] { return NoneExists(); }));
}

// The directory has another name when the command ends, so the reaper finds the placeholders by their descriptors
// alone.
TEST_F(PlaceholderReaperTest, GetsMorePlaceholdersThanFitIntoOneMessage) {
  std::filesystem::create_directory(In("before"));
  std::vector<Placeholder> many;
  for (int i = 0; i < 40; ++i) many.push_back({.path = In("before/." + std::to_string(i))});
  Start(many);
  LaunchedCommand command(many, {.reaper = socket_.get(), .number = 1});
  std::filesystem::rename(In("before"), In("after"));
  EXPECT_TRUE(Exists(In("after/.39")));
  command.Kill();
  EXPECT_TRUE(Eventually([&] { return std::filesystem::is_empty(In("after")); }));
}

// pid 1 tells its placeholders when it has made them all. One that is killed before has told itself only.
TEST_F(PlaceholderReaperTest, FindsWhatACommandHasMadeAndNotTold) {
  const pid_t killed = ::fork();
  if (killed == 0) {
    const auto self = sys::OpenPidfd(::getpid());
    const ReaperMessage message{.kind = ReaperMessage::Kind::kProcess, .command = 1};
    UsedPlaceholders used;
    PlaceholderRetries retries;
    const bool made = self && sys::SendWithDescriptor(socket_.get(), message.bytes(), self->get()) &&
                      AcquirePlaceholder(wanted_[0], 0, used, retries) &&
                      AcquirePlaceholder(wanted_[1], 1, used, retries);
    if (!made) ::_exit(1);
    socket_.Reset();
    for (;;) ::pause();
  }
  EXPECT_TRUE(Eventually([&] { return AllExist(); }));
  ::kill(killed, SIGKILL);
  EXPECT_TRUE(Eventually([&] { return NoneExists(); }));
}

TEST_F(PlaceholderReaperTest, RemovesThemWhenTheCommandEndsAndThenTellsTheServer) {
  auto control = sys::MakeSocketPair(sys::SocketKind::kPacket);
  const LaunchedCommand command(wanted_, {.reaper = socket_.get(), .number = 7, .control = control->theirs.get()});
  control->theirs.Reset();
  const ReaperMessage ended{.kind = ReaperMessage::Kind::kEnded, .command = 7, .wait_status = 3 << 8};
  ASSERT_EQ(::write(socket_.get(), &ended, sizeof ended), static_cast<ssize_t>(sizeof ended));
  KeeperEvent event{};
  ASSERT_EQ(::read(control->ours.get(), &event, sizeof event), static_cast<ssize_t>(sizeof event));
  EXPECT_EQ(event.kind, KeeperEventKind::kExited);
  EXPECT_EQ(event.value, 3 << 8);
  EXPECT_TRUE(NoneExists());
}

// The reaper closes the control socket of a command that was killed when it has removed what it removes.
TEST_F(PlaceholderReaperTest, KeepsWhatAnotherCommandUses) {
  auto control = sys::MakeSocketPair(sys::SocketKind::kPacket);
  LaunchedCommand first(wanted_, {.reaper = socket_.get(), .number = 1, .control = control->theirs.get()});
  control->theirs.Reset();
  const LaunchedCommand second(wanted_, {.reaper = socket_.get(), .number = 2});
  const ino_t before = InodeOf(In(".git"));
  first.Kill();
  char nothing;
  EXPECT_EQ(::read(control->ours.get(), &nothing, 1), 0);
  EXPECT_TRUE(AllExist());
  EXPECT_EQ(InodeOf(In(".git")), before) << "then it was removed and made again";
}

TEST_F(PlaceholderReaperTest, RemovesThemWithTheLastOfSeveralCommands) {
  LaunchedCommand first(wanted_, {.reaper = socket_.get(), .number = 1});
  LaunchedCommand second(wanted_, {.reaper = socket_.get(), .number = 2});
  first.Kill();
  second.Kill();
  EXPECT_TRUE(Eventually([&] { return NoneExists(); }));
}

TEST_F(PlaceholderReaperTest, ACommandOutlivesTheLauncherAndItsPlaceholdersDoNotOutliveTheCommand) {
  LaunchedCommand command(wanted_, {.reaper = socket_.get(), .number = 1});
  socket_.Reset();
  EXPECT_TRUE(AllExist());
  command.Kill();
  EXPECT_TRUE(Eventually([&] { return NoneExists(); }));
}

TEST_F(PlaceholderReaperTest, EndsWhenTheLauncherAndAllCommandsHaveEnded) {
  {
    const LaunchedCommand command(wanted_, {.reaper = socket_.get(), .number = 1});
    socket_.Reset();
  }
  int status = -1;
  EXPECT_GT(::waitpid(-1, &status, 0), 0);  // the reaper is the only child that is left
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace holdfast::sandbox
