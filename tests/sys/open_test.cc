#include "sys/open.h"

#include <linux/openat2.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "support/restricted_child.h"
#include "support/scratch_dir.h"
#include "sys/pty.h"

namespace holdfast::sys {
namespace {

class OpenTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return dir_.path() + "/" + name; }

  std::string MakeLink(const std::string& name, const std::string& target) const {
    EXPECT_EQ(::symlink(target.c_str(), Path(name).c_str()), 0);
    return Path(name);
  }

  // Opens a path and returns 0 or the errno.
  static int OpenErrno(const std::string& path, int flags, Links links) {
    const int fd = TryOpenAt(AT_FDCWD, path, flags, links);
    const OwnedFd owned(fd);
    return fd < 0 ? -fd : 0;
  }

  static int CachedErrno(const std::string& path, int flags, Links links) {
    const int fd = OpenCached(path, flags, links);
    const OwnedFd owned(fd);
    return fd < 0 ? -fd : 0;
  }

  // Opens a cached path with several attempts. The kernel gives up a look-up in memory if the access time of a link has
  // to be updated, or if something is renamed meanwhile.
  static int WarmErrno(const std::string& path, int flags, Links links) {
    int error = EAGAIN;
    for (int attempt = 0; attempt < 100 && error == EAGAIN; ++attempt) {
      struct stat status;
      (void)::stat(path.c_str(), &status);  // brings the path into the memory of the kernel
      error = CachedErrno(path, flags, links);
    }
    return error;
  }

  static bool LoseOpenat2() { return support::RefuseCalls({{SYS_openat2, ENOSYS}}); }

  void ExpectLinksAreHeeded() const;

  const support::ScratchDir dir_;
};

TEST_F(OpenTest, OpensRelativeToADirectory) {
  dir_.Write("folder/file", "text");
  auto folder = OpenAt(AT_FDCWD, Path("folder"), O_PATH | O_DIRECTORY, Links::kNone);
  ASSERT_TRUE(folder) << folder.error().message;
  auto file = OpenAt(folder->get(), "file", O_RDONLY, Links::kNone);
  ASSERT_TRUE(file) << file.error().message;
  char c = 0;
  EXPECT_EQ(::read(file->get(), &c, 1), 1);
  EXPECT_EQ(c, 't');
}

TEST_F(OpenTest, NamesThePathInItsError) {
  const auto missing = OpenAt(AT_FDCWD, Path("missing"), O_RDONLY, Links::kFollow);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error(), (Error{ErrorKind::kNotFound, "open " + Path("missing") + ": No such file or directory"}));
}

TEST_F(OpenTest, HeedsWhereLinksMayBe) { ExpectLinksAreHeeded(); }

// The filter forbids openat2, as inside one of our sandboxes. It holds for one thread only, and ends with it.
TEST_F(OpenTest, DoesAllThatWithoutOpenat2) {
  std::thread([this] {
    ASSERT_TRUE(LoseOpenat2());
    const open_how how = {.flags = O_PATH, .mode = 0, .resolve = 0};
    ASSERT_EQ(::syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof how), -1);
    ExpectLinksAreHeeded();
    EXPECT_EQ(OpenErrno(MakeLink("nowhere", "missing"), O_PATH, Links::kNone), ELOOP);
    EXPECT_EQ(OpenErrno(Path("nowhere"), O_PATH | O_NOFOLLOW, Links::kNone), 0);
    EXPECT_EQ(OpenErrno(Path("nowhere"), O_RDONLY | O_DIRECTORY, Links::kNone), ELOOP);
    EXPECT_EQ(OpenErrno(Path("nowhere/"), O_PATH, Links::kNone), ELOOP);
    EXPECT_EQ(OpenErrno(Path("folder//..//folder/./file"), O_RDONLY, Links::kNone), 0);
    EXPECT_EQ(OpenErrno(Path("folder/"), O_RDONLY, Links::kNone), 0);
    EXPECT_EQ(OpenErrno(Path("folder/file/"), O_RDONLY, Links::kNone), ENOTDIR);
    EXPECT_EQ(OpenErrno(Path("missing/file"), O_RDONLY, Links::kNone), ENOENT);
    EXPECT_EQ(OpenErrno("/", O_RDONLY, Links::kNone), 0);
    EXPECT_EQ(OpenErrno("", O_RDONLY, Links::kNone), ENOENT);
    EXPECT_EQ(OpenErrno("/proc/self/exe", O_RDONLY, Links::kNone), ELOOP);
    EXPECT_EQ(CachedErrno("/", O_PATH, Links::kNone), EAGAIN);
  }).join();
}

void OpenTest::ExpectLinksAreHeeded() const {
  const std::string file = dir_.Write("folder/file", "");
  const std::string at_end = MakeLink("at_end", file);
  const std::string on_the_way = MakeLink("on_the_way", Path("folder")) + "/file";
  for (const int flags : {O_RDONLY, O_WRONLY, O_RDONLY | O_NONBLOCK, O_WRONLY | O_CREAT}) {
    for (const Links links : {Links::kFollow, Links::kFollowToLast, Links::kNone}) {
      EXPECT_EQ(OpenErrno(file, flags, links), 0);
    }
    EXPECT_EQ(OpenErrno(at_end, flags, Links::kFollow), 0);
    EXPECT_EQ(OpenErrno(at_end, flags, Links::kFollowToLast), ELOOP);
    EXPECT_EQ(OpenErrno(at_end, flags, Links::kNone), ELOOP);
    EXPECT_EQ(OpenErrno(on_the_way, flags, Links::kFollow), 0);
    EXPECT_EQ(OpenErrno(on_the_way, flags, Links::kFollowToLast), 0);
    EXPECT_EQ(OpenErrno(on_the_way, flags, Links::kNone), ELOOP);
  }
}

TEST_F(OpenTest, TakesMagicLinksForLinks) {
  const OwnedFd file(::open(dir_.Write("file", "").c_str(), O_RDONLY | O_CLOEXEC));
  const std::string magic = "/proc/self/fd/" + std::to_string(file.get());
  EXPECT_EQ(OpenErrno(magic, O_RDONLY, Links::kFollow), 0);
  EXPECT_EQ(OpenErrno(magic, O_RDONLY, Links::kFollowToLast), ELOOP);
  EXPECT_EQ(OpenErrno(magic, O_RDONLY, Links::kNone), ELOOP);
}

TEST_F(OpenTest, HoldsALinkItselfOnlyWhenToldSo) {
  const std::string link = MakeLink("link", "nowhere");
  auto held = OpenAt(AT_FDCWD, link, O_PATH, Links::kFollowToLast);
  ASSERT_TRUE(held) << held.error().message;
  struct stat status;
  ASSERT_EQ(::fstat(held->get(), &status), 0);
  EXPECT_TRUE(S_ISLNK(status.st_mode));
  EXPECT_EQ(OpenErrno(link, O_PATH, Links::kNone), ELOOP);
  EXPECT_EQ(OpenErrno(link, O_PATH, Links::kFollow), ENOENT);
}

TEST_F(OpenTest, IsCloseOnExec) {
  const std::string file = dir_.Write("file", "");
  for (const int flags : {O_RDONLY, O_PATH}) {
    auto fd = OpenAt(AT_FDCWD, file, flags, Links::kFollow);
    ASSERT_TRUE(fd) << fd.error().message;
    EXPECT_TRUE(::fcntl(fd->get(), F_GETFD) & FD_CLOEXEC);
  }
  ASSERT_EQ(WarmErrno(file, O_PATH, Links::kFollow), 0);
  int cached = -EAGAIN;
  for (int attempt = 0; attempt < 100 && cached == -EAGAIN; ++attempt)
    cached = OpenCached(file, O_PATH, Links::kFollow);
  const OwnedFd owned(cached);
  EXPECT_TRUE(::fcntl(owned.get(), F_GETFD) & FD_CLOEXEC);
}

TEST_F(OpenTest, CreatesWithTheModeLessTheUmask) {
  const mode_t before = ::umask(027);
  EXPECT_TRUE(OpenAt(AT_FDCWD, Path("new"), O_WRONLY | O_CREAT | O_EXCL, Links::kNone, 0666));
  ::umask(before);
  struct stat status;
  ASSERT_EQ(::stat(Path("new").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
}

TEST_F(OpenTest, IgnoresAModeWhenNothingIsCreated) {
  EXPECT_TRUE(OpenAt(AT_FDCWD, dir_.Write("file", ""), O_RDONLY, Links::kFollow, 0666));
  EXPECT_TRUE(OpenAt(AT_FDCWD, dir_.path(), O_RDONLY | O_DIRECTORY, Links::kFollow, 0666));
}

TEST_F(OpenTest, DoesNotMakeATerminalTheControllingOne) {
  auto pty = OpenPty({});
  ASSERT_TRUE(pty);
  const std::string terminal = "/proc/self/fd/" + std::to_string(pty->slave.get());
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    const int opened = TryOpenAt(AT_FDCWD, terminal, O_RDWR, Links::kFollow);
    ::_exit(opened >= 0 && ::open("/dev/tty", O_RDWR | O_CLOEXEC) < 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(OpenTest, WaitsOnAfterAnInterruption) {
  const std::string fifo = Path("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  struct sigaction action = {}, before = {};
  action.sa_handler = [](int) {};
  ::sigaction(SIGUSR1, &action, &before);
  std::thread writer([&fifo, reader = ::pthread_self()] {
    for (int i = 0; i < 20; ++i) {
      ::usleep(1000);
      ::pthread_kill(reader, SIGUSR1);
    }
    ::close(::open(fifo.c_str(), O_WRONLY | O_CLOEXEC));
  });
  EXPECT_EQ(OpenErrno(fifo, O_RDONLY, Links::kFollow), 0);
  // If the open gave up too early, the writer still waits for a reader.
  const OwnedFd relief(::open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  writer.join();
  ::sigaction(SIGUSR1, &before, nullptr);
}

TEST_F(OpenTest, OpensInARootThatNothingLeadsOutOf) {
  dir_.Write("root/file", "");
  dir_.Write("file", "");
  ASSERT_EQ(::symlink("/file", Path("root/absolute").c_str()), 0);
  ASSERT_EQ(::symlink("/etc/passwd", Path("root/elsewhere").c_str()), 0);
  const auto root = OpenAt(AT_FDCWD, Path("root"), O_PATH | O_DIRECTORY, Links::kNone);
  ASSERT_TRUE(root);
  struct stat inside, found;
  ASSERT_EQ(::stat(Path("root/file").c_str(), &inside), 0);
  for (const char* const name : {"file", "/file", "../file", "absolute"}) {
    const OwnedFd file(OpenInRoot(root->get(), name, O_PATH));
    ASSERT_TRUE(file.is_open()) << name;
    ASSERT_EQ(::fstat(file.get(), &found), 0);
    EXPECT_EQ(found.st_ino, inside.st_ino) << name;
    EXPECT_EQ(::fcntl(file.get(), F_GETFD), FD_CLOEXEC);
  }
  EXPECT_EQ(OpenInRoot(root->get(), "elsewhere", O_PATH), -ENOENT);
}

class OpenCachedTest : public OpenTest {
 protected:
  OpenCachedTest() {
    const open_how how = {.flags = O_PATH | O_CLOEXEC, .mode = 0, .resolve = RESOLVE_CACHED};
    const OwnedFd root(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof how)));
    knows_cached_ = root.is_open();
  }
  void SetUp() override {
    if (!knows_cached_) GTEST_SKIP() << "this kernel has no RESOLVE_CACHED";
  }
  bool knows_cached_;
};

TEST_F(OpenCachedTest, OpensWhatIsInMemory) {
  EXPECT_EQ(WarmErrno(dir_.Write("folder/file", ""), O_PATH, Links::kNone), 0);
}

TEST_F(OpenCachedTest, SaysAgainForWhatWasNeverLookedUp) {
  EXPECT_EQ(CachedErrno(Path("never_seen"), O_PATH, Links::kFollow), EAGAIN);
  EXPECT_EQ(CachedErrno(Path("never_made"), O_WRONLY | O_CREAT, Links::kFollow), EAGAIN);
}

TEST_F(OpenCachedTest, HeedsWhereLinksMayBe) {
  const std::string at_end = MakeLink("at_end", dir_.Write("folder/file", ""));
  const std::string on_the_way = MakeLink("on_the_way", Path("folder")) + "/file";
  EXPECT_EQ(WarmErrno(at_end, O_PATH, Links::kFollow), 0);
  EXPECT_EQ(WarmErrno(at_end, O_PATH, Links::kFollowToLast), 0);
  EXPECT_EQ(WarmErrno(at_end, O_PATH, Links::kNone), ELOOP);
  EXPECT_EQ(WarmErrno(on_the_way, O_PATH, Links::kFollowToLast), 0);
  EXPECT_EQ(WarmErrno(on_the_way, O_PATH, Links::kNone), ELOOP);
}

}  // namespace
}  // namespace holdfast::sys
