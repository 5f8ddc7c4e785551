#include "sandbox/jail/placeholders.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "sandbox/resolve/protected_names.h"
#include "support/eventually.h"
#include "support/proc.h"
#include "support/scratch_dir.h"
#include "sys/io.h"
#include "sys/pidfd.h"
#include "sys/placeholder.h"

namespace holdfast::sandbox {
namespace {

using support::Eventually;
using Clock = std::chrono::steady_clock;
using enum PlaceholderKind;

bool Exists(const std::string& path) {
  struct stat status;
  return ::lstat(path.c_str(), &status) == 0;
}

mode_t ModeOf(const std::string& path) {
  struct stat status = {};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
  return status.st_mode;
}

// Child is a process that does `act`, reports it, and then lives until it is killed.
class Child {
 public:
  explicit Child(const std::function<void()>& act) {
    auto ready = sys::MakePipe(sys::OurEnd::kWrite);
    pid_ = ::fork();
    if (pid_ == 0) {
      ready->read_end.Reset();
      const int out = ready->write_end.get();
      RunInChild(act, out);
    }
    ready->write_end.Reset();
    char byte = 0;
    EXPECT_EQ(sys::Read(ready->read_end.get(), &byte, 1), 1);
  }
  ~Child() { Kill(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void Kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, -1), nullptr, 0);
  }

 private:
  // The function is noexcept, because an exception must not lead the child back into the test.
  [[noreturn]] static void RunInChild(const std::function<void()>& act, int out) noexcept {
    act();
    (void)::write(out, "r", 1);
    for (;;) ::pause();
  }

  pid_t pid_;
};

// Returns whether no child of the test itself is alive.
bool NoChildLives() {
  const auto children = support::ChildrenOf(::getpid());
  return std::ranges::all_of(children, support::IsZombie);
}

class PlaceholdersTest : public testing::Test {
 protected:
  std::string In(const std::string& name) const { return scratch_.path() + "/" + name; }

  static Result<Placeholders> TryMake(const std::vector<Placeholder>& wanted) {
    TRY(Placeholders placeholders, Placeholders::Prepare(wanted));
    TRY_VOID(placeholders.Make());
    return placeholders;
  }
  static Placeholders Make(const std::vector<Placeholder>& wanted) {
    auto made = TryMake(wanted);
    EXPECT_TRUE(made) << made.error().message;
    return *std::move(made);
  }
  Placeholders MakeBoth() const { return Make({{In("dir"), kDirectory}, {In("file"), kFile}}); }
  bool BothExist() const { return Exists(In("dir")) && Exists(In("file")); }
  bool NoneExists() const { return !Exists(In("dir")) && !Exists(In("file")); }

  support::ScratchDir scratch_;
};

TEST_F(PlaceholdersTest, AreThereEmptyWithTheirModeAndThenGone) {
  {
    const Placeholders held = MakeBoth();
    EXPECT_EQ(ModeOf(In("dir")), S_IFDIR | S_ISVTX | 0555u);
    EXPECT_EQ(ModeOf(In("file")), S_IFREG | S_ISVTX | 0444u);
    EXPECT_TRUE(std::filesystem::is_empty(In("dir")));
    EXPECT_TRUE(std::filesystem::is_empty(In("file")));
    EXPECT_TRUE(sys::IsPlaceholderAt(AT_FDCWD, In("dir")));
    EXPECT_TRUE(sys::IsPlaceholderAt(AT_FDCWD, In("file")));
  }
  EXPECT_TRUE(NoneExists());
}

TEST_F(PlaceholdersTest, TheModeDoesNotDependOnTheUmask) {
  const mode_t before = ::umask(0777);
  {
    const Placeholders held = MakeBoth();
    EXPECT_TRUE(sys::IsPlaceholderAt(AT_FDCWD, In("dir")));
    EXPECT_TRUE(sys::IsPlaceholderAt(AT_FDCWD, In("file")));
  }
  ::umask(before);
  EXPECT_TRUE(NoneExists());
}

TEST_F(PlaceholdersTest, TheModeDoesNotDependOnTheDirectory) {
  ASSERT_EQ(::chmod(scratch_.path().c_str(), S_ISGID | 0755), 0);
  {
    const Placeholders held = MakeBoth();
    EXPECT_TRUE(sys::IsPlaceholderAt(AT_FDCWD, In("dir")));
    EXPECT_TRUE(sys::IsPlaceholderAt(AT_FDCWD, In("file")));
  }
  EXPECT_TRUE(NoneExists());
}

TEST_F(PlaceholdersTest, StayUntilTheLastOfTwoHasEnded) {
  std::optional<Placeholders> first = MakeBoth(), second = MakeBoth();
  first.reset();
  EXPECT_TRUE(BothExist());
  std::optional<Placeholders> third = MakeBoth();
  second.reset();
  EXPECT_TRUE(BothExist());
  third.reset();
  EXPECT_TRUE(NoneExists());
}

TEST_F(PlaceholdersTest, StayWhileAnotherProcessUsesThem) {
  std::optional<Placeholders> ours = MakeBoth();
  Child other([&] { new Placeholders(MakeBoth()); });
  ours.reset();
  EXPECT_TRUE(BothExist());
  other.Kill();
  EXPECT_TRUE(Eventually([&] { return NoneExists(); }));
}

TEST_F(PlaceholdersTest, WhatTheUserHasIsNeverRemoved) {
  ASSERT_EQ(::mkdir(In("dir").c_str(), 0755), 0);
  scratch_.Write("file", "");
  {
    const Placeholders held = MakeBoth();
  }
  EXPECT_TRUE(BothExist());
  EXPECT_FALSE(sys::IsPlaceholderAt(AT_FDCWD, In("dir")));
  EXPECT_FALSE(sys::IsPlaceholderAt(AT_FDCWD, In("file")));
  EXPECT_EQ(ModeOf(In("dir")), S_IFDIR | 0755u);
  EXPECT_EQ(ModeOf(In("file")), S_IFREG | 0644u);
}

TEST_F(PlaceholdersTest, WhatIsPutIntoThemKeepsThem) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can write what nobody may write";
  {
    const Placeholders held = MakeBoth();
    scratch_.Write("dir/precious", "x", 0644);
    const OwnedFd file(::open(In("file").c_str(), O_WRONLY | O_CLOEXEC));
    ASSERT_EQ(::write(file.get(), "precious", 8), 8);
  }
  EXPECT_TRUE(Exists(In("dir/precious")));
  EXPECT_EQ(std::filesystem::file_size(In("file")), 8u);
}

TEST_F(PlaceholdersTest, WhatTookTheirPlaceStays) {
  {
    const Placeholders held = MakeBoth();
    ASSERT_EQ(::rmdir(In("dir").c_str()), 0);
    ASSERT_EQ(::unlink(In("file").c_str()), 0);
    ASSERT_EQ(::mkdir(In("dir").c_str(), 0755), 0);
    scratch_.Write("file", "");
  }
  EXPECT_TRUE(BothExist());
}

TEST_F(PlaceholdersTest, NoneIsMadeByThePreparation) {
  {
    auto prepared = Placeholders::Prepare({{In("dir"), kDirectory}, {In("file"), kFile}});
    ASSERT_TRUE(prepared);
    EXPECT_TRUE(NoneExists());
    ASSERT_TRUE(prepared->Make());
    EXPECT_TRUE(BothExist());
  }
  EXPECT_TRUE(NoneExists());
}

TEST_F(PlaceholdersTest, NoLinkIsFollowed) {
  std::filesystem::create_directory(In("target"));
  std::filesystem::create_directory_symlink(In("target"), In("link"));
  EXPECT_FALSE(TryMake({{In("link/dir"), kDirectory}}));
  EXPECT_FALSE(TryMake({{In("link"), kDirectory}}));
  EXPECT_TRUE(std::filesystem::is_empty(In("target")));
}

TEST_F(PlaceholdersTest, WhenOneFailsTheOthersAreRemoved) {
  const auto made = TryMake({{In("dir"), kDirectory}, {In("none/file"), kFile}});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::kNotFound);
  EXPECT_TRUE(NoneExists());
}

TEST_F(PlaceholdersTest, AreRemovedAfterTheirHolderWasKilled) {
  Child holder([&] { new Placeholders(MakeBoth()); });
  ASSERT_TRUE(BothExist());
  holder.Kill();
  EXPECT_TRUE(Eventually([&] { return NoneExists(); }));
}

// The holder is killed at every moment, also while the placeholders are being made.
TEST_F(PlaceholdersTest, AreRemovedWheneverTheirHolderIsKilled) {
  std::vector<Placeholder> many;
  for (int i = 0; i < 20; ++i) many.push_back({In("dir" + std::to_string(i)), kDirectory});
  for (int round = 0; round < 60; ++round) {
    const pid_t holder = ::fork();
    if (holder == 0) {
      const auto made = TryMake(many);
      ::_exit(made ? 0 : 1);  // without destructors, so that the child removes nothing itself
    }
    ::usleep(static_cast<useconds_t>(round) * 50);  // another moment in each round
    ::kill(holder, SIGKILL);
    ::waitpid(holder, nullptr, 0);
    ASSERT_TRUE(Eventually([&] { return std::filesystem::is_empty(scratch_.path()); })) << round;
  }
}

// The reaper looks for the directory by its name, which leads elsewhere by then.
TEST_F(PlaceholdersTest, AreRemovedFromADirectoryThatHasAnotherName) {
  std::filesystem::create_directories(In("place"));
  std::filesystem::create_directories(In("other"));
  std::filesystem::create_symlink("other", In("link"));
  for (const char* const name : {"link", "other"}) {
    Child holder([&] { new Placeholders(Make({{In("place/dir"), kDirectory}})); });
    ASSERT_TRUE(Exists(In("place/dir")));
    ASSERT_EQ(::renameat2(AT_FDCWD, In("place").c_str(), AT_FDCWD, In(name).c_str(), RENAME_EXCHANGE), 0);
    holder.Kill();
    EXPECT_TRUE(Eventually([&] { return !Exists(In(std::string(name) + "/dir")); })) << name;
    ASSERT_EQ(::renameat2(AT_FDCWD, In("place").c_str(), AT_FDCWD, In(name).c_str(), RENAME_EXCHANGE), 0);
  }
}

// The process would make a placeholder again that is removed too early.
TEST_F(PlaceholdersTest, AreRemovedAfterTheProcessThatTheyAreKeptFor) {
  for (int round = 0; round < 20; ++round) {
    const pid_t user = ::fork();
    if (user == 0) {
      while (!Exists(In("file"))) ::usleep(100);
      for (;;) (void)::mkdir(In("dir").c_str(), 0755);
    }
    const auto pidfd = sys::OpenPidfd(user);
    ASSERT_TRUE(pidfd) << pidfd.error().message;
    Child holder([&] { EXPECT_TRUE((new Placeholders(MakeBoth()))->KeepUntilEndOf(pidfd->get())); });
    holder.Kill();
    EXPECT_TRUE(Eventually([&] { return NoneExists(); })) << round;
    EXPECT_TRUE(support::IsZombie(user));
    ::kill(user, SIGKILL);
    ::waitpid(user, nullptr, 0);
    ASSERT_TRUE(NoneExists()) << round;
  }
}

TEST_F(PlaceholdersTest, ThoseLeftBehindAreTakenOverAndRemoved) {
  ASSERT_EQ(::mkdir(In("dir").c_str(), 0700), 0);
  ASSERT_EQ(::chmod(In("dir").c_str(), S_ISVTX | 0555), 0);
  {
    const Placeholders held = MakeBoth();
  }
  EXPECT_TRUE(NoneExists());
}

TEST_F(PlaceholdersTest, AnExclusiveLockDoesNotHoldUp) {
  for (const char* name : {"dir1", "dir2", "dir3"}) {
    ASSERT_EQ(::mkdir(In(name).c_str(), 0700), 0);
    ASSERT_EQ(::chmod(In(name).c_str(), S_ISVTX | 0555), 0);
  }
  Child locker([&] {
    for (const char* name : {"dir1", "dir2", "dir3"}) (void)::flock(::open(In(name).c_str(), O_RDONLY), LOCK_EX);
  });
  const auto begin = Clock::now();
  {
    const Placeholders held = Make({{In("dir1"), kDirectory}, {In("dir2"), kDirectory}, {In("dir3"), kDirectory}});
  }
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(8));
}

// Any process that can open a placeholder can lock it, also from inside of another sandbox.
TEST_F(PlaceholdersTest, WhoHadNoLockKeepsItNevertheless) {
  ASSERT_EQ(::mkdir(In("dir").c_str(), 0700), 0);
  ASSERT_EQ(::chmod(In("dir").c_str(), S_ISVTX | 0555), 0);
  Child locker([&] { (void)::flock(::open(In("dir").c_str(), O_RDONLY), LOCK_EX); });
  std::optional<Placeholders> held = MakeBoth();
  locker.Kill();
  MakeBoth();  // the placeholders are made and removed at once
  EXPECT_TRUE(BothExist());
  held.reset();
  EXPECT_TRUE(NoneExists());
}

TEST_F(PlaceholdersTest, ALockOfSomebodyElseOnlyPutsTheRemovalOff) {
  std::optional<Placeholders> held = MakeBoth();
  Child locker([&] {
    for (const char* name : {"dir", "file"}) (void)::flock(::open(In(name).c_str(), O_RDONLY), LOCK_SH);
  });
  held.reset();
  EXPECT_TRUE(BothExist());
  locker.Kill();
  EXPECT_TRUE(Eventually([&] { return NoneExists(); }));
  EXPECT_TRUE(Eventually(NoChildLives));
}

// In a directory like /tmp only the owner of a placeholder can remove it.
TEST_F(PlaceholdersTest, StayUntilAnotherUserHasEndedAndGoThen) {
  if (::geteuid() != 0) GTEST_SKIP() << "takes two users";
  ASSERT_EQ(::chmod(scratch_.path().c_str(), S_ISVTX | 0777), 0);
  std::optional<Placeholders> ours = MakeBoth();
  Child other([&] {
    if (::setresuid(1000, 1000, 1000) == 0) new Placeholders(MakeBoth());
  });
  ours.reset();
  EXPECT_TRUE(BothExist());
  other.Kill();
  EXPECT_TRUE(Eventually([&] { return NoneExists(); }));
  EXPECT_TRUE(Eventually(NoChildLives));
}

// A sandbox of the same user can remove the placeholders, so no process has to wait for it.
TEST_F(PlaceholdersTest, NobodyWaitsForTheirOwnUser) {
  ASSERT_EQ(::chmod(scratch_.path().c_str(), S_ISVTX | 0777), 0);
  std::optional<Placeholders> first = MakeBoth();
  const auto makers = support::ChildrenOf(::getpid());
  const Placeholders second = MakeBoth();
  first.reset();
  EXPECT_TRUE(BothExist());
  EXPECT_TRUE(Eventually([&] { return std::ranges::all_of(makers, support::IsZombie); }));
}

// A caller reads the helper's output to its end, and must not have to wait for a process that it does not know.
TEST_F(PlaceholdersTest, NobodyKeepsTheStandardStreamsOpen) {
  auto out = sys::MakePipe(sys::OurEnd::kWrite);
  ASSERT_TRUE(out);
  Child holder([&] {
    for (int fd = 0; fd <= 2; ++fd) ::dup2(out->write_end.get(), fd);
    out->write_end.Reset();
    new Placeholders(MakeBoth());
    for (int fd = 0; fd <= 2; ++fd) ::close(fd);
  });
  out->write_end.Reset();
  ASSERT_TRUE(BothExist());
  ASSERT_TRUE(sys::SetBlocking(out->read_end.get(), sys::Blocking::kNo));
  char byte;
  EXPECT_TRUE(Eventually([&] { return sys::Read(out->read_end.get(), &byte, 1) == 0; }));
}

// Many processes at once make and remove the same placeholder. Each finds it there as long as it needs it.
TEST_F(PlaceholdersTest, SurviveManyWhoComeAndGo) {
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (int round = 0; round < 25; ++round) {
        const auto held = TryMake({{In("dir"), kDirectory}, {In("file"), kFile}});
        if (!held || !BothExist()) ::_exit(1);
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_TRUE(Eventually([&] { return NoneExists(); }));
}

}  // namespace
}  // namespace holdfast::sandbox
