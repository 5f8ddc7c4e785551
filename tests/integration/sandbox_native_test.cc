// The native backend mounts by descriptor and cuts the propagation of mounts. Each test here shows a weakness of mounts
// by name that it does not have, or how it refuses a machine on which it cannot work: no command is run with less.
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "support/program.h"
#include "support/sandbox_workspace.h"
#include "support/swapper.h"
#include "sys/io.h"
#include "sys/placeholder.h"

namespace holdfast::support {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using Strings = std::vector<std::string>;

class SandboxNativeTest : public testing::TestWithParam<SandboxCase> {
 protected:
  void SetUp() override {
    if (const std::string reason = workspace_.WhyNot(); !reason.empty()) GTEST_SKIP() << reason;
  }

  const std::string& area() const { return workspace_.elsewhere(); }

  // Returns the words of a shell that runs `script` with the helper's command line as "$@".
  static Strings Around(const Strings& outer, const std::string& script, const Strings& helper) {
    Strings words = outer;
    words.insert(words.end(), {"bash", "-c", script, "sh"});
    words.insert(words.end(), helper.begin(), helper.end());
    return words;
  }

  SandboxWorkspace workspace_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(, SandboxNativeTest, testing::ValuesIn(UsersWith({Means::kNative})), CaseName);

// A Watch notices every file that is made in a directory, also one that is removed again.
class Watch {
 public:
  explicit Watch(const std::string& directory) {
    EXPECT_GE(::inotify_add_watch(events_.get(), directory.c_str(), IN_CREATE | IN_MOVED_TO), 0);
  }
  bool HasSeenSomething() const {
    char buffer[4096];
    return ::read(events_.get(), buffer, sizeof buffer) > 0;
  }

 private:
  OwnedFd events_{::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
};

// The command may write `place`, and `closed` is denied; now and then `place` is a link to `closed`. The protected
// names are missing in `place`, so every start makes placeholders there.
TEST_P(SandboxNativeTest, NothingIsMadeWhereALinkLeads) {
  constexpr int runs = 100;
  ASSERT_EQ(workspace_.Outside(fmt::format("cd {} && mkdir place closed && ln -s closed link", area())).status, 0);
  const Watch watch(area() + "/closed");
  const std::string script = fmt::format(
      "echo ran; cd {} && for name in place link; do mkdir $name/.git && echo less; echo x > closed/made; done "
      "2> /dev/null; true",
      area());
  const Strings rules = {PathEntry(area() + "/place", "write"), PathEntry(area() + "/closed", "deny")};
  int starts = 0;
  {
    const Swapper swapper(area() + "/place", area() + "/link");
    for (int run = 0; run < runs || (starts == 0 && run < 10 * runs); ++run) {
      const Outcome outcome = workspace_.Inside(script, rules);
      EXPECT_THAT(outcome.out, testing::AnyOf("", "ran\n"));
      if (outcome.out.empty()) EXPECT_THAT(outcome.err, StartsWith("holdfast-linux-sandbox: ")) << outcome.status;
      if (!outcome.out.empty()) ++starts;
    }
  }
  EXPECT_GT(starts, 0) << "then nothing was tried";
  EXPECT_FALSE(watch.HasSeenSomething());
  const Outcome left = workspace_.Outside(fmt::format("cd {} && ls -A place/ link/ closed/ | grep -v ':$'", area()));
  EXPECT_EQ(left.out, "\n\n");
}

// In the mount namespace of this test all mounts are shared, as they are on a machine with systemd. A process whose
// mounts only follow those outside sees the new one.
TEST_P(SandboxNativeTest, AFileSystemThatIsMountedLaterDoesNotAppearInside) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can mount";
  const std::string late = area() + "/late";
  const std::string inside = fmt::format(
      "touch up; until [ -e go ]; do sleep 0.01; done; ls {0}; grep -c ' {0} ' /proc/self/mountinfo; true", late);
  const std::string script = fmt::format(
      R"(cd {0} && rm -f up go && mkdir -p {1} || exit; "$@" & until [ -e up ]; do sleep 0.01; done
         mount -t tmpfs none {1} && touch {1}/file go; wait)",
      workspace_.path(), late);
  const Strings shared = {"unshare", "--mount", "--propagation", "shared"};
  const Strings follower = {"unshare", "--mount", "--propagation", "slave", "bash", "-c", inside};
  const Outcome following = Program(Around(shared, script, follower)).Finish();
  EXPECT_EQ(following.out, "file\n1\n") << following.err;
  const Outcome sandboxed = Program(Around(shared, script, workspace_.InsideWords(inside))).Finish();
  EXPECT_EQ(sandboxed.out, "0\n") << sandboxed.err;
}

// Another process of the user has made the mount point before, with the mode of a placeholder, and holds every lock on
// it that it can get. It also holds the directories above it.
TEST_P(SandboxNativeTest, NoLockKeepsACommandFromStarting) {
  const std::string made = workspace_.path() + "/.git";
  ASSERT_EQ(::mkdir(made.c_str(), 0755), 0);
  ASSERT_EQ(::chmod(made.c_str(), sys::kPlaceholderDirectoryMode), 0);
  ASSERT_EQ(::chown(made.c_str(), GetParam().user, GetParam().user), 0);
  std::vector<OwnedFd> held;
  for (const std::string& path : {made, workspace_.path(), area()}) {
    held.emplace_back(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_EQ(::flock(held.back().get(), LOCK_EX | LOCK_NB), 0) << path;
  }
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome = workspace_.Inside("echo ran; mkdir .git/x || rmdir .git");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_EQ(outcome.out, "ran\n");
  EXPECT_NE(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("Read-only file system"));
}

// A machine that does not allow a step of the native backend. The policy is one that Landlock alone could enforce too.
class SandboxRefusalTest : public SandboxNativeTest {
 protected:
  // Returns the helper's command line for a command that says so if it runs, and tries to write outside.
  Strings Words(const std::string& backend, const Strings& flags = {}) const {
    Strings words = workspace_.InsideWords("echo ran; touch " + area() + "/made");
    *(std::ranges::find(words, "--backend") + 1) = backend;
    words.insert(std::ranges::find(words, "--backend"), flags.begin(), flags.end());
    return words;
  }

  // Runs the helper in a user namespace after `change`, which its root does.
  Outcome After(const std::string& change, const Strings& words) const {
    // The user namespace is made as the user, so setpriv comes first.
    const auto environment = std::ranges::find(words, "env");
    const Strings user(words.begin(), environment), helper(environment, words.end());
    Strings outer = user;
    outer.insert(outer.end(), {"unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc"});
    return Program(Around(outer, change + " && exec \"$@\"", helper)).Finish();
  }

  void ExpectRefused(const Outcome& outcome, std::string_view reason) const {
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, AllOf(StartsWith("holdfast-linux-sandbox: "), HasSubstr(std::string(reason))));
    EXPECT_FALSE(fs::exists(area() + "/made"));
  }
  // Expects that the command has run, with all restrictions.
  void ExpectRan(const Outcome& outcome) const {
    EXPECT_EQ(outcome.out, "ran\n") << outcome.err;
    EXPECT_NE(outcome.status, 0);
    EXPECT_FALSE(fs::exists(area() + "/made"));
  }
};

INSTANTIATE_TEST_SUITE_P(, SandboxRefusalTest, testing::ValuesIn(UsersWith({Means::kNative})), CaseName);

TEST_P(SandboxRefusalTest, WithoutRestrictionsTheCommandRuns) {
  ExpectRan(After("true", Words("native")));
  ExpectRan(After("true", Words("auto")));
}

TEST_P(SandboxRefusalTest, NothingIsRunWhereNamespacesAreUsedUp) {
  for (const std::string kind : {"user", "mnt", "pid", "net"}) {
    SCOPED_TRACE(kind);
    const std::string change = fmt::format("echo 0 > /proc/sys/user/max_{}_namespaces", kind);
    ExpectRefused(After(change, Words("native")), "the native backend does not work here: clone3: No space left");
    ExpectRefused(After(change, Words("auto")), "the native backend does not work here: clone3: No space left");
  }
}

// The kernel allows no fresh /proc then, because it would show what is covered.
TEST_P(SandboxRefusalTest, NothingIsRunWherePartsOfProcAreCovered) {
  const std::string cover = "mount -t tmpfs none /proc/sys";
  ExpectRefused(After(cover, Words("native")), "the native backend does not work here: mount a fresh /proc: ");
  ExpectRefused(After(cover, Words("auto")), "the native backend does not work here: mount a fresh /proc: ");
  ExpectRan(After(cover, Words("native", {"--no-proc"})));
}

TEST_P(SandboxRefusalTest, NothingIsRunWhereTheMapsOfIdsCannotBeWritten) {
  const std::string change = "mount -o remount,bind,ro /proc";
  ExpectRefused(After(change, Words("native")), "the native backend does not work here: ");
}

// Forks a process in which clone3 does not exist, as under the filters of containers, which cannot see its flags.
pid_t ForkWithoutClone3() {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  const sock_filter instructions[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                                      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
                                      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
                                      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program = {std::size(instructions), const_cast<sock_filter*>(instructions)};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) {
    ::_exit(98);
  }
  return 0;
}

TEST_P(SandboxRefusalTest, NothingIsRunWhereAFilterRefusesClone3) {
  ExpectRefused(Program(Words("native"), -1, ForkWithoutClone3).Finish(),
                "the native backend does not work here: clone3: Function not implemented");
}

TEST_P(SandboxRefusalTest, BubblewrapIsUsedWhereAFilterRefusesClone3) {
  auto report = *sys::MakePipe(sys::OurEnd::kRead);
  Program helper(Words("auto", {"--report-fd", "3"}), report.write_end.get(), ForkWithoutClone3);
  report.write_end.Reset();
  ExpectRan(helper.Finish());
  char line[4096];
  const ssize_t size = sys::Read(report.read_end.get(), line, sizeof line);
  EXPECT_THAT(std::string(line, static_cast<size_t>(std::max<ssize_t>(size, 0))),
              AllOf(StartsWith("started bubblewrap "), HasSubstr("clone3: Function not implemented")));
}

}  // namespace
}  // namespace holdfast::support
