#include "sandbox/jail/input_files.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "support/scratch_dir.h"

namespace holdfast::sandbox {
namespace {

struct Seen {
  bool is_shared = false;  // the caller's descriptor has the same offset, so the file was not opened again
  std::string rest;
};

// Reopens the streams in a process of its own, with the file as standard input at offset 3.
Seen SeenAfter(const std::string& path, int flags) {
  int ends[2];
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const OwnedFd read_end(ends[0]);
  OwnedFd write_end(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    const int original = ::open(path.c_str(), flags | O_CLOEXEC);
    ::lseek(original, 3, SEEK_SET);
    ::dup2(original, STDIN_FILENO);
    if (!ReopenStreams()) ::_exit(2);
    std::array<char, 64> text;
    const ssize_t size = ::read(STDIN_FILENO, text.data(), text.size());
    if (size > 0) (void)!::write(ends[1], text.data(), static_cast<size_t>(size));
    ::_exit(::lseek(original, 0, SEEK_CUR) == 3 ? 0 : 1);
  }
  write_end.Reset();
  std::array<char, 64> text;
  const ssize_t size = ::read(read_end.get(), text.data(), text.size());
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  return {WEXITSTATUS(status) == 1, std::string(text.data(), static_cast<size_t>(size > 0 ? size : 0))};
}

TEST(InputFilesTest, AreOpenedAgainAtTheSameOffset) {
  const support::ScratchDir scratch;
  const Seen seen = SeenAfter(scratch.Write("file", "onetwo"), O_RDONLY);
  EXPECT_FALSE(seen.is_shared);
  EXPECT_EQ(seen.rest, "two");
}

TEST(InputFilesTest, AreLeftAloneWhenTheyMayBeWritten) {
  const support::ScratchDir scratch;
  const Seen seen = SeenAfter(scratch.Write("file", "onetwo"), O_RDWR);
  EXPECT_TRUE(seen.is_shared);
  EXPECT_EQ(seen.rest, "two");
}

// A device has no offset that could show whether it was opened again. So `cover` mounts something over its node in
// /dev, which is then opened in its place, or refused.
int StatusWith(const char* stream, int flags, const std::function<bool()>& cover) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::open(stream, flags | O_CLOEXEC), STDIN_FILENO);
    const int before = ::fcntl(STDIN_FILENO, F_GETFL);
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 || !cover()) ::_exit(3);
    if (!ReopenStreams()) ::_exit(2);
    if (::fcntl(STDIN_FILENO, F_GETFL) != before) ::_exit(4);
    struct statx opened, named;
    if (::statx(STDIN_FILENO, "", AT_EMPTY_PATH, STATX_MNT_ID, &opened) < 0 ||
        ::statx(AT_FDCWD, stream, 0, STATX_MNT_ID, &named) < 0) {
      ::_exit(3);
    }
    ::_exit(opened.stx_mnt_id == named.stx_mnt_id ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool Bind(const char* from, const char* to) { return ::mount(from, to, nullptr, MS_BIND, nullptr) == 0; }

TEST(InputFilesTest, DevicesAreThoseOfTheMountsInside) {
  for (const char* const device : {"/dev/null", "/dev/zero", "/dev/full", "/dev/urandom"}) {
    for (const int flags : {O_RDONLY, O_WRONLY, O_RDWR | O_APPEND}) {
      const int status = StatusWith(device, flags, [&] { return Bind(device, device); });
      if (status == 3) GTEST_SKIP() << "namespaces are not permitted here";
      EXPECT_EQ(status, 0) << device;
    }
  }
}

TEST(InputFilesTest, AnotherDeviceByThatNameIsRefused) {
  const int status = StatusWith("/dev/null", O_RDWR, [] { return Bind("/dev/zero", "/dev/null"); });
  if (status == 3) GTEST_SKIP() << "namespaces are not permitted here";
  EXPECT_EQ(status, 2);
}

}  // namespace
}  // namespace holdfast::sandbox
