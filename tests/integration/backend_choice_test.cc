// Tests of the choice between the backends, on machines that allow less than this one. A child of the test takes
// something away from itself and executes the helper. Nothing may run with less protection than was asked for.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "support/program.h"
#include "support/required_program.h"
#include "support/restricted_child.h"
#include "support/scratch_dir.h"
#include "sys/io.h"

namespace holdfast::support {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Strings = std::vector<std::string>;

const std::string kHoldfast = HOLDFAST_BINARY;
const std::string kHelper = fs::path(kHoldfast).replace_filename("holdfast-linux-sandbox");
const std::string kReadOnly =
    R"({"type":"managed","file_system":{"type":"restricted","entries":[)"
    R"({"path":{"type":"special","value":{"kind":"root"}},"access":"read"}]},"network":"restricted"})";
constexpr uid_t kNobody = 65534;

using Restriction = std::function<bool()>;
bool TakeNothing() { return true; }

struct End {
  int status;
  std::string out, err, report;
};

class BackendChoiceTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { chroot_ = new ScratchDir; }
  static void TearDownTestSuite() { delete std::exchange(chroot_, nullptr); }

  void SetUp() override {
    const End end = Run({}, TakeNothing);
    (void)RequireAvailable(end.report == "started native\n" ? "" : "no native backend: " + end.report + end.err);
  }

  // Runs `echo ran` in a sandbox, below a restriction.
  static End Run(const Strings& flags, const Restriction& take_away, const std::string& helper = kHelper) {
    auto report = sys::MakePipe(sys::OurEnd::kRead);
    Strings words = {helper, "--sandbox-policy-cwd", "/", "--permission-profile", kReadOnly, "--report-fd", "3"};
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), {"--", "/bin/echo", "ran"});
    const auto fork_with_less = [&] {
      const pid_t child = ::fork();
      if (child == 0 && !take_away()) ::_exit(99);
      return child;
    };
    const Outcome outcome = Program(words, report->write_end.get(), fork_with_less).Finish();
    EXPECT_NE(outcome.status, 99) << "the test could not be set up";
    std::string text(4096, '\0');
    const ssize_t size = sys::Read(report->read_end.get(), text.data(), text.size());
    text.resize(size > 0 ? static_cast<size_t>(size) : 0);
    return {outcome.status, outcome.out, outcome.err, text};
  }

  static void ExpectRefused(const End& end, std::string_view reason) {
    EXPECT_NE(end.status, 0);
    EXPECT_EQ(end.out, "");
    EXPECT_THAT(end.err, HasSubstr(reason));
    EXPECT_THAT(end.report, AllOf(StartsWith("failed "), HasSubstr(reason)));
  }

  static bool HideNewMounts() { return RefuseCalls({{SYS_mount_setattr, ENOSYS}}); }

  static ScratchDir* chroot_;
};

ScratchDir* BackendChoiceTest::chroot_ = nullptr;

TEST_F(BackendChoiceTest, EachBackendReportsItsName) {
  const std::pair<std::string, std::string> reports[] = {{"auto", "started native\n"},
                                                         {"native", "started native\n"},
                                                         {"bubblewrap", "started bubblewrap\n"},
                                                         {"landlock", "executing landlock\n"}};
  for (const auto& [name, report] : reports) {
    const End end = Run({"--backend", name}, TakeNothing);
    EXPECT_EQ(end.out, "ran\n") << name << ": " << end.err;
    EXPECT_EQ(end.report, report) << name;
    EXPECT_EQ(end.err, "") << name;
  }
}

TEST_F(BackendChoiceTest, AutoIsBubblewrapWhereTheNativeBackendDoesNotWork) {
  const End end = Run({}, HideNewMounts);
  EXPECT_EQ(end.out, "ran\n") << end.err;
  EXPECT_THAT(end.report, AllOf(StartsWith("started bubblewrap the native backend does not work here: mount_setattr /: "
                                           "Function not implemented. ")));
  EXPECT_EQ(end.err, "");
}

TEST_F(BackendChoiceTest, TheNativeBackendByNameIsReplacedByNoOther) {
  ExpectRefused(Run({"--backend", "native"}, HideNewMounts), "mount_setattr /: Function not implemented");
  EXPECT_EQ(Run({"--backend", "bubblewrap"}, HideNewMounts).report, "started bubblewrap\n");
}

TEST_F(BackendChoiceTest, LandlockAloneComesAfterBoth) {
  const auto without_mounts = [] { return EnterOwnNamespaces() && SetNamespaceLimit("max_mnt_namespaces", "0"); };
  const End end = Run({"--allow-landlock-only"}, without_mounts);
  EXPECT_EQ(end.out, "ran\n");
  EXPECT_THAT(end.err, AllOf(HasSubstr("warning: Landlock only"), HasSubstr("user.max_mnt_namespaces")));
  EXPECT_THAT(end.report, StartsWith("executing landlock "));
  EXPECT_EQ(Run({"--allow-landlock-only"}, HideNewMounts).report.substr(0, 19), "started bubblewrap ");
  EXPECT_EQ(Run({"--allow-landlock-only"}, TakeNothing).report, "started native\n");
}

TEST_F(BackendChoiceTest, AMachineWithoutNamespacesIsRefusedWithTheCause) {
  for (const std::string limit : {"max_user_namespaces", "max_mnt_namespaces", "max_pid_namespaces"}) {
    const auto without = [&] { return EnterOwnNamespaces() && SetNamespaceLimit(limit, "0"); };
    for (const Strings& flags : {Strings{}, Strings{"--backend", "native"}, Strings{"--backend", "bubblewrap"}}) {
      ExpectRefused(Run(flags, without), "user." + limit);
    }
  }
}

TEST_F(BackendChoiceTest, ACoveredProcIsRefusedUnlessTheSandboxHasNone) {
  const auto cover = [] { return EnterOwnNamespaces() && CoverProc(); };
  for (const Strings& flags : {Strings{}, Strings{"--backend", "native"}})
    ExpectRefused(Run(flags, cover), "--no-proc");
  EXPECT_EQ(Run({"--no-proc"}, cover).report, "started native\n");
}

TEST_F(BackendChoiceTest, AReadOnlyProcIsRefused) {
  const auto seal = [] { return EnterOwnNamespaces() && MakeProcReadOnly(); };
  for (const Strings& flags : {Strings{}, Strings{"--backend", "native"}}) {
    ExpectRefused(Run(flags, seal), "/proc/self: Read-only file system");
  }
}

TEST_F(BackendChoiceTest, AChrootIsRefused) {
  fs::copy_file(kHelper, chroot_->path() + "/helper", fs::copy_options::skip_existing);
  const auto enter = [] { return EnterOwnNamespaces() && EnterChroot(chroot_->path().c_str()); };
  ExpectRefused(Run({"--backend", "native"}, enter, "/helper"), "pivot_root instead of chroot");
  ExpectRefused(Run({}, enter, "/helper"), "pivot_root instead of chroot");
}

// The filter of a container answers ENOSYS to clone3, because it cannot see its flags, and EPERM to other calls.
TEST_F(BackendChoiceTest, AFilterOfAContainerIsRefusedWithTheCause) {
  const auto filter = [] {
    return RefuseCalls({{SYS_clone3, ENOSYS}, {SYS_unshare, EPERM}, {SYS_mount, EPERM}, {SYS_setns, EPERM}});
  };
  ExpectRefused(Run({"--backend", "native"}, filter), "clone3: Function not implemented");
  ExpectRefused(Run({}, filter), "clone3: Function not implemented");
}

// Returns what the file is that the helper runs from while the command waits: "memory", "read-only mount" or "file".
std::string ImageOf(const std::string& helper, const Strings& before) {
  Strings words = before;
  words.insert(words.end(), {helper, "--sandbox-policy-cwd", "/", "--permission-profile", kReadOnly, "--backend",
                             "native", "--", "/bin/sh", "-c", "echo up; sleep 1000"});
  Program program(words);
  program.AwaitOutput("up\n");
  const std::string image = fmt::format("/proc/{}/exe", program.pid());
  if (fs::read_symlink(image).string().starts_with("/memfd:")) return "memory";
  struct statvfs mount;
  EXPECT_EQ(::statvfs(image.c_str(), &mount), 0);
  if ((mount.f_flag & ST_RDONLY) == 0) return "file";
  EXPECT_EQ(::chmod(image.c_str(), 0700), -1);
  EXPECT_EQ(errno, EROFS);
  return "read-only mount";
}

// A script names the program that executes it as its interpreter, and so leads to the file of the helper. The script
// runs inside, where the file must not be one that the command can change.
TEST_F(BackendChoiceTest, TheHelperRunsFromAFileThatTheCommandCannotChange) {
  const ScratchDir own;
  const std::string helper = own.path() + "/holdfast-linux-sandbox";
  fs::copy_file(kHelper, helper);
  EXPECT_EQ(ImageOf(helper, {}), ::geteuid() == 0 ? "read-only mount" : "memory");
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  const Strings without_input = {"/bin/sh", "-c", "exec \"$0\" \"$@\" <&-"};
  EXPECT_EQ(ImageOf(helper, without_input), "read-only mount") << "which has not the number of the command's input";
  fs::permissions(own.path(), fs::perms(0755));
  const Strings as_nobody = {"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"};
  EXPECT_EQ(ImageOf(helper, as_nobody), "file") << "it belongs to root, and needs no copy";
  fs::permissions(helper, fs::perms(0757));
  EXPECT_EQ(ImageOf(helper, as_nobody), "memory");
  fs::permissions(helper, fs::perms(0755));
  ASSERT_EQ(::chown(helper.c_str(), kNobody, kNobody), 0);
  EXPECT_EQ(ImageOf(helper, as_nobody), "memory");
}

TEST_F(BackendChoiceTest, AnUnsealedProgramIsNotTakenForASealedOne) {
  const OwnedFd plain(::open(kHelper.c_str(), O_RDONLY | O_CLOEXEC));
  const Strings words = {kHelper,     "--sandbox-policy-cwd",
                         "/",         "--permission-profile",
                         kReadOnly,   "--program-fd",
                         "3",         "--backend",
                         "native",    "--",
                         "/bin/echo", "ran"};
  const Outcome outcome = Program(words, plain.get()).Finish();
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("descriptor 3 is not the program of this process, or a command could change it"));
}

}  // namespace
}  // namespace holdfast::support
