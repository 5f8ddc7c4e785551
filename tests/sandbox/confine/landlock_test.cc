#include "sandbox/confine/landlock.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <functional>

#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "support/scratch_dir.h"
#include "sys/io.h"
#include "sys/pty.h"

namespace holdfast::sandbox {
namespace {

using Rights = LandlockRule::Rights;
using Act = std::function<int()>;  // 0 or an errno

constexpr int kCannotRestrict = 255;

int ErrnoOf(long result) { return result < 0 ? errno : 0; }

int Open(const std::string& path, int flags) {
  const OwnedFd fd(::open(path.c_str(), flags | O_CLOEXEC, 0644));
  return ErrnoOf(fd.get());
}

std::string Reopened(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

int InChild(const Act& act) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(act());
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

class LandlockTest : public testing::Test {
 protected:
  LandlockTest() {
    ::mkdir(inside_.c_str(), 0755);
    ::mkdir(outside_.c_str(), 0755);
    scratch_.Write("inside/file", "inside");
    scratch_.Write("outside/file", "outside");
    options_.rules = {{"/", Rights::kRead}, {inside_, Rights::kWrite}};
  }

  void SetUp() override {
    if (LandlockAbi() == 0) GTEST_SKIP() << "the kernel has no Landlock, or it is not enabled";
  }

  // Return the errno of the act in a process of its own, and in one that is restricted first.
  int Free(const Act& act) { return InChild(act); }
  int Restricted(const Act& act) {
    return InChild([&] { return Restrict(options_) ? act() : kCannotRestrict; });
  }

  // Expects that Landlock stops the act, and that nothing else would stop it.
  void ExpectStopped(const Act& act, int expected_errno = EACCES) {
    EXPECT_EQ(Restricted(act), expected_errno);
    EXPECT_EQ(Free(act), 0);
  }

  void ExpectAllowed(const Act& act) { EXPECT_EQ(Restricted(act), 0); }

  support::ScratchDir scratch_;
  const std::string inside_ = scratch_.path() + "/inside", outside_ = scratch_.path() + "/outside";
  LandlockOptions options_;
};

TEST_F(LandlockTest, SaysWhichAbiItUsed) {
  EXPECT_EQ(InChild([&] { return Restrict(options_).value_or(kCannotRestrict); }), std::min(LandlockAbi(), 7));
}

TEST_F(LandlockTest, SetsNoNewPrivileges) {
  EXPECT_EQ(Restricted([] { return ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); }), 1);
}

TEST_F(LandlockTest, AllowsEverythingInAWritablePath) {
  ExpectAllowed([&] { return Open(inside_ + "/file", O_RDWR | O_TRUNC); });
  ExpectAllowed([&] { return Open(inside_ + "/new", O_WRONLY | O_CREAT); });
  ExpectAllowed([&] { return ErrnoOf(::mkdir((inside_ + "/dir").c_str(), 0755)); });
  ExpectAllowed([&] { return ErrnoOf(::mkfifo((inside_ + "/fifo").c_str(), 0644)); });
  ExpectAllowed([&] { return ErrnoOf(::symlink("x", (inside_ + "/link").c_str())); });
  ExpectAllowed([&] { return ErrnoOf(::truncate((inside_ + "/file").c_str(), 1)); });
  ExpectAllowed([&] { return ErrnoOf(::unlink((inside_ + "/new").c_str())); });
  ExpectAllowed([&] { return ErrnoOf(::rmdir((inside_ + "/dir").c_str())); });
}

TEST_F(LandlockTest, MovesAndLinksFilesBetweenDirectoriesInside) {
  if (LandlockAbi() < 2) GTEST_SKIP() << "needs Landlock ABI 2";
  scratch_.Write("inside/a/file", "");
  scratch_.Write("inside/b/other", "");
  ExpectAllowed([&] { return ErrnoOf(::link((inside_ + "/a/file").c_str(), (inside_ + "/b/link").c_str())); });
  ExpectAllowed([&] { return ErrnoOf(::rename((inside_ + "/a/file").c_str(), (inside_ + "/b/file").c_str())); });
}

TEST_F(LandlockTest, ReadsListsAndExecutesWhatIsReadable) {
  ExpectAllowed([&] { return Open(outside_ + "/file", O_RDONLY); });
  ExpectAllowed([&] { return Open(outside_, O_RDONLY | O_DIRECTORY); });
  ExpectAllowed([] { return ErrnoOf(::execl("/bin/true", "true", nullptr)); });
}

TEST_F(LandlockTest, StopsWritingOutside) {
  ExpectStopped([&] { return Open(outside_ + "/file", O_WRONLY); });
  ExpectStopped([&] { return Open(outside_ + "/new", O_WRONLY | O_CREAT); });
  ExpectStopped([&] { return ErrnoOf(::mkdir((outside_ + "/dir").c_str(), 0755)); });
  ExpectStopped([&] { return ErrnoOf(::symlink("x", (outside_ + "/link").c_str())); });
  ExpectStopped([&] { return ErrnoOf(::unlink((outside_ + "/new").c_str())); });
  ExpectStopped([&] { return ErrnoOf(::rmdir((outside_ + "/dir").c_str())); });
}

TEST_F(LandlockTest, StopsTruncatingOutside) {
  if (LandlockAbi() < 3) GTEST_SKIP() << "needs Landlock ABI 3";
  ExpectStopped([&] { return ErrnoOf(::truncate((outside_ + "/file").c_str(), 0)); });
  ExpectStopped([&] { return Open(outside_ + "/file", O_RDONLY | O_TRUNC); });
}

TEST_F(LandlockTest, StopsMovingFilesOutOrIn) {
  ExpectStopped([&] { return ErrnoOf(::rename((inside_ + "/file").c_str(), (outside_ + "/stolen").c_str())); });
  ExpectStopped([&] { return ErrnoOf(::rename((outside_ + "/stolen").c_str(), (inside_ + "/file").c_str())); });
}

// A link would give a file outside a name inside, with the rights of that place.
TEST_F(LandlockTest, StopsLinkingAFileInFromOutside) {
  ExpectStopped([&] { return ErrnoOf(::link((outside_ + "/file").c_str(), (inside_ + "/link").c_str())); }, EXDEV);
}

TEST_F(LandlockTest, StopsWritingToAFifoOutside) {
  ASSERT_EQ(::mkfifo((outside_ + "/fifo").c_str(), 0644), 0);
  const OwnedFd reader(::open((outside_ + "/fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ExpectStopped([&] { return Open(outside_ + "/fifo", O_WRONLY | O_NONBLOCK); });
}

TEST_F(LandlockTest, StopsReopeningAReadOnlyDescriptorForWriting) {
  const OwnedFd file(::open((outside_ + "/file").c_str(), O_RDONLY | O_CLOEXEC));
  options_.passed_fds = {file.get()};
  ExpectStopped([&] { return Open(Reopened(file.get()), O_WRONLY); });
}

TEST_F(LandlockTest, StopsUsingAPassedDirectory) {
  const OwnedFd directory(::open(outside_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  options_.passed_fds = {directory.get()};
  ExpectStopped([&] { return ErrnoOf(::openat(directory.get(), "file", O_WRONLY | O_CLOEXEC)); });
}

TEST_F(LandlockTest, ReopensAPassedFileThatIsOpenForWriting) {
  const OwnedFd file(::open((outside_ + "/file").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  const Act act = [&] { return Open(Reopened(file.get()), O_WRONLY | O_TRUNC); };
  ExpectStopped(act);
  options_.passed_fds = {file.get()};
  ExpectAllowed(act);
  EXPECT_EQ(Restricted([&] { return Open(outside_ + "/other", O_WRONLY | O_CREAT); }), EACCES);
}

TEST_F(LandlockTest, ReopensAPassedFileForReadingWhereNothingIsReadable) {
  options_.rules = {{"/proc", Rights::kRead}};
  const OwnedFd file(::open((outside_ + "/file").c_str(), O_RDONLY | O_CLOEXEC));
  const Act act = [&] { return Open(Reopened(file.get()), O_RDONLY); };
  ExpectStopped(act);
  options_.passed_fds = {file.get()};
  ExpectAllowed(act);
  EXPECT_EQ(Restricted([&] { return Open(Reopened(file.get()), O_RDWR); }), EACCES);
}

TEST_F(LandlockTest, KeepsAPassedTerminalUsable) {
  const auto pty = sys::OpenPty({});
  ASSERT_TRUE(pty);
  const int slave = pty->slave.get();
  const Act act = [&] {
    const OwnedFd again(::open(Reopened(slave).c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC));
    return again.is_open() && ::isatty(again.get()) == 1 ? 0 : errno;
  };
  ExpectStopped(act);
  options_.passed_fds = {slave};
  ExpectAllowed(act);
}

TEST_F(LandlockTest, StopsControllingADeviceThatIsOnlyReadable) {
  if (LandlockAbi() < 5) GTEST_SKIP() << "needs Landlock ABI 5";
  const auto pty = sys::OpenPty({});
  ASSERT_TRUE(pty);
  ExpectStopped([&] {
    const OwnedFd again(::open(Reopened(pty->slave.get()).c_str(), O_RDONLY | O_NOCTTY | O_CLOEXEC));
    return ::isatty(again.get()) == 1 ? 0 : errno;
  });
}

TEST_F(LandlockTest, HasNoSayAboutPipesAndFilesInMemory) {
  const auto pipe = sys::MakePipe(sys::OurEnd::kRead);
  ASSERT_TRUE(pipe);
  const OwnedFd memory(::memfd_create("test", MFD_CLOEXEC));
  options_.passed_fds = {pipe->write_end.get(), memory.get()};
  ExpectAllowed([&] { return Open(Reopened(pipe->write_end.get()), O_WRONLY); });
  ExpectAllowed([&] { return Open(Reopened(memory.get()), O_RDWR | O_TRUNC); });
}

TEST_F(LandlockTest, ReadsProcButDoesNotWriteToIt) {
  ExpectAllowed([] { return Open("/proc/self/status", O_RDONLY); });
  ExpectStopped([] { return Open("/proc/self/comm", O_WRONLY); });
  ExpectStopped([] { return Open("/proc/self/mem", O_RDWR); });
}

TEST_F(LandlockTest, TakesARuleForAFile) {
  options_.rules = {{"/", Rights::kRead}, {outside_ + "/file", Rights::kWrite}};
  scratch_.Write("outside/other", "");
  ExpectAllowed([&] { return Open(outside_ + "/file", O_WRONLY | O_TRUNC); });
  ExpectStopped([&] { return Open(outside_ + "/other", O_WRONLY); });
}

TEST_F(LandlockTest, LeavesOutPathsThatDoNotExist) {
  options_.rules.push_back({scratch_.path() + "/missing", Rights::kWrite});
  options_.rules.push_back({inside_ + "/file/below", Rights::kRead});
  ExpectAllowed([&] { return Open(inside_ + "/file", O_WRONLY); });
  ExpectStopped([&] { return ErrnoOf(::mkdir((scratch_.path() + "/missing").c_str(), 0755)); });
}

TEST_F(LandlockTest, FailsOnAPathThatIsALoop) {
  ASSERT_EQ(::symlink("loop", (inside_ + "/loop").c_str()), 0);
  options_.rules.push_back({inside_ + "/loop", Rights::kRead});
  EXPECT_EQ(Restricted([] { return 0; }), kCannotRestrict);
}

TEST_F(LandlockTest, ListsButDoesNotReadWhatMayBeListed) {
  options_.rules = {{scratch_.path(), Rights::kList}, {outside_ + "/file", Rights::kList}};
  ExpectAllowed([&] { return Open(outside_, O_RDONLY | O_DIRECTORY); });
  ExpectStopped([&] { return Open(outside_ + "/file", O_RDONLY); });
}

TEST_F(LandlockTest, LeavesFilesAloneWithoutRules) {
  options_.rules.clear();
  ExpectAllowed([&] { return Open(outside_ + "/new", O_WRONLY | O_CREAT); });
}

TEST_F(LandlockTest, HoldsForWhatTheCommandStarts) {
  const std::string script = "exec 2>&-; echo x > " + outside_ + "/new";
  ExpectStopped([&] { return ErrnoOf(::execl("/bin/sh", "sh", "-c", script.c_str(), nullptr)); }, 2);
}

int ConnectToAbstract(const std::string& name) {
  const OwnedFd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return ErrnoOf(::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), size));
}

TEST_F(LandlockTest, StopsAbstractSocketsOfOthers) {
  if (LandlockAbi() < 6) GTEST_SKIP() << "needs Landlock ABI 6";
  const OwnedFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_un unnamed = {.sun_family = AF_UNIX, .sun_path = {}};
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&unnamed), sizeof unnamed.sun_family), 0);
  ASSERT_EQ(::listen(listener.get(), 5), 0);
  sockaddr_un given = {};
  socklen_t size = sizeof given;
  ASSERT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&given), &size), 0);
  const std::string name(given.sun_path + 1, size - offsetof(sockaddr_un, sun_path) - 1);

  EXPECT_EQ(ConnectToAbstract(name), 0);
  ExpectStopped([&] { return ConnectToAbstract(name); }, EPERM);
}

TEST_F(LandlockTest, StopsSignalsToOthers) {
  if (LandlockAbi() < 6) GTEST_SKIP() << "needs Landlock ABI 6";
  const pid_t other = ::getpid();
  ExpectStopped([&] { return ErrnoOf(::kill(other, 0)); }, EPERM);
}

TEST_F(LandlockTest, LetsTheRestrictedSignalEachOther) {
  ExpectAllowed([] {
    const pid_t child = ::fork();
    if (child < 0) return errno;
    if (child == 0) ::pause();
    int status = 0;
    if (::kill(child, SIGKILL) < 0) return errno;
    ::waitpid(child, &status, 0);
    return WTERMSIG(status) == SIGKILL ? 0 : ECHILD;
  });
}

}  // namespace
}  // namespace holdfast::sandbox
