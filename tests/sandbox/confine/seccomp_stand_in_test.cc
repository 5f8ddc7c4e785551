// These tests run, in the kernel, the filter for a command without namespaces or mounts. Every act works without the
// filter.
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/ioprio.h>
#include <mqueue.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "sandbox/confine/seccomp_filter.h"
#include "support/scratch_dir.h"

namespace holdfast::sandbox {
namespace {

using Act = std::function<int()>;  // 0, or the errno

int ErrnoOf(long result) { return result < 0 ? errno : 0; }

[[noreturn]] void RunInChild(std::optional<StandsFor> filter, const Act& act) noexcept {
  if (filter && !InstallFilter(MakeFilter(Filter::kOpenNetwork, *filter))) ::_exit(255);
  ::_exit(act());
}

int InChild(std::optional<StandsFor> filter, const Act& act) {
  const pid_t child = ::fork();
  if (child == 0) RunInChild(filter, act);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WEXITSTATUS(status);
}

class StandInTest : public testing::Test {
 protected:
  // Expects that an act is refused by a filter that stands in for at least `from`, and by none that stands in for less.
  static void ExpectRefused(StandsFor from, const Act& act) {
    EXPECT_EQ(InChild(std::nullopt, act), 0);
    EXPECT_EQ(InChild(StandsFor::kNothing, act), 0);
    EXPECT_EQ(InChild(StandsFor::kNamespaces, act), from == StandsFor::kNamespaces ? EPERM : 0);
    EXPECT_EQ(InChild(StandsFor::kNamespacesAndMounts, act), EPERM);
  }

  static void ExpectAllowed(const Act& act) { EXPECT_EQ(InChild(StandsFor::kNamespacesAndMounts, act), 0); }

  // Sets the flags that the file has: ext4 sometimes refuses other ones, because it would have to store the file in
  // another way.
  int FileFlags(unsigned long request) const {
    const OwnedFd fd(::open(file_.c_str(), O_RDONLY | O_CLOEXEC));
    int flags = 0;
    const int result = ::ioctl(fd.get(), FS_IOC_GETFLAGS, &flags);
    return ErrnoOf(request == FS_IOC_GETFLAGS ? result : ::ioctl(fd.get(), request, &flags));
  }

  support::ScratchDir dir_;
  const std::string file_ = dir_.Write("file", "x");
};

TEST_F(StandInTest, ModesAreNotChanged) {
  ExpectRefused(StandsFor::kNamespacesAndMounts, [&] { return ErrnoOf(::chmod(file_.c_str(), 0600)); });
  ExpectRefused(StandsFor::kNamespacesAndMounts, [&] { return ErrnoOf(::fchmodat(AT_FDCWD, file_.c_str(), 0600, 0)); });
}

TEST_F(StandInTest, ModesAreNotChangedThroughADescriptor) {
  const OwnedFd fd(::open(file_.c_str(), O_RDONLY | O_CLOEXEC));
  ExpectRefused(StandsFor::kNamespacesAndMounts, [&] { return ErrnoOf(::fchmod(fd.get(), 0600)); });
}

TEST_F(StandInTest, OwnersAreNotChanged) {
  ExpectRefused(StandsFor::kNamespacesAndMounts,
                [&] { return ErrnoOf(::chown(file_.c_str(), ::geteuid(), ::getegid())); });
}

TEST_F(StandInTest, TimesAreNotChanged) {
  ExpectRefused(StandsFor::kNamespacesAndMounts,
                [&] { return ErrnoOf(::utimensat(AT_FDCWD, file_.c_str(), nullptr, 0)); });
}

TEST_F(StandInTest, ExtendedAttributesAreNotChanged) {
  const Act act = [&] { return ErrnoOf(::setxattr(file_.c_str(), "user.x", "y", 1, 0)); };
  if (InChild(std::nullopt, act) == EOPNOTSUPP) GTEST_SKIP() << "the file system has none";
  ExpectRefused(StandsFor::kNamespacesAndMounts, act);
}

// The descriptor is open for reading only.
TEST_F(StandInTest, FileFlagsAreReadAndNotChanged) {
  if (FileFlags(FS_IOC_GETFLAGS) != 0) GTEST_SKIP() << "the file system has none";
  ExpectAllowed([&] { return FileFlags(FS_IOC_GETFLAGS); });
  ExpectRefused(StandsFor::kNamespacesAndMounts, [&] { return FileFlags(FS_IOC_SETFLAGS); });
}

TEST_F(StandInTest, MemoryIsNotShared) {
  const int id = ::shmget(IPC_PRIVATE, 4096, 0600);
  ASSERT_GE(id, 0);
  ExpectRefused(StandsFor::kNamespaces,
                [&] { return ErrnoOf(reinterpret_cast<intptr_t>(::shmat(id, nullptr, 0)) == -1 ? -1 : 0); });
  ::shmctl(id, IPC_RMID, nullptr);
}

TEST_F(StandInTest, QueuesAreNotOpened) {
  const std::string name = "/holdfast-test-" + std::to_string(::getpid());
  const mqd_t queue = ::mq_open(name.c_str(), O_RDWR | O_CREAT, 0600, nullptr);
  if (queue < 0) GTEST_SKIP() << "the kernel has no message queues";
  ExpectRefused(StandsFor::kNamespaces, [&] { return ErrnoOf(::mq_open(name.c_str(), O_RDWR)); });
  ::mq_unlink(name.c_str());
  ::mq_close(queue);
}

TEST_F(StandInTest, OtherProcessesRunAsTheyDid) {
  const pid_t parent = ::getpid();
  ExpectRefused(StandsFor::kNamespaces,
                [&] { return ErrnoOf(::setpriority(PRIO_PROCESS, static_cast<id_t>(parent), 0)); });
  ExpectRefused(StandsFor::kNamespaces, [] { return ErrnoOf(::setpriority(PRIO_PGRP, 0, 0)); });
  ExpectRefused(StandsFor::kNamespaces, [&] {
    rlimit limit;
    return ErrnoOf(::prlimit(parent, RLIMIT_CORE, nullptr, &limit));
  });
  ExpectRefused(StandsFor::kNamespaces, [&] {
    cpu_set_t set;
    if (::sched_getaffinity(parent, sizeof set, &set) < 0) return errno;
    return ErrnoOf(::sched_setaffinity(parent, sizeof set, &set));
  });
  ExpectRefused(StandsFor::kNamespaces, [&] {
    const long now = ::syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, parent);
    return ErrnoOf(::syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, parent, now));
  });
}

TEST_F(StandInTest, AProcessMayChangeHowItRunsItself) {
  ExpectAllowed([] { return ErrnoOf(::setpriority(PRIO_PROCESS, 0, 5)); });
  ExpectAllowed([] {
    const rlimit none = {0, 0};
    return ErrnoOf(::setrlimit(RLIMIT_CORE, &none));
  });
  ExpectAllowed([] {
    cpu_set_t set;
    ::sched_getaffinity(0, sizeof set, &set);
    return ErrnoOf(::sched_setaffinity(0, sizeof set, &set));
  });
}

}  // namespace
}  // namespace holdfast::sandbox
